//! `report.html`: one self-contained page that opens without a network.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::sentence::{answer, count};
use super::{Figure, table};
use crate::experiment::results::manifest::Experiment;
use crate::stats::Analysis;
use crate::stats::number::{grouped, percent};
use crate::stats::runs::LISTED;

const STYLE: &str = include_str!("page.css");

/// The page. Every text that comes from a file is escaped; the figures are this program's own drawings.
pub(super) fn page(analysis: &Analysis, figures: &[Figure]) -> String {
    let experiment = &analysis.manifest.experiment;
    let name = &experiment.scenario.name;
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (name) " - desync-sim report" }
                style { (PreEscaped(STYLE)) }
            }
            body {
                header {
                    h1 { (name) }
                    (compared(experiment))
                }
                main {
                    p.answer { (answer(analysis)) }
                    (warnings(analysis))
                    h2 { "The arms side by side" }
                    (comparison(analysis))
                    h2 { "Figures" }
                    @for figure in figures { (drawn(experiment, figure)) }
                    h2 { "Runs that hung" }
                    (hung_runs(analysis))
                    h2 { "Desyncs by signature" }
                    (signatures(analysis))
                    h2 { "What this does and does not show" }
                    (honesty())
                }
                footer {
                    h2 { "Build and digest" }
                    (provenance(analysis))
                }
            }
        }
    };
    page.into_string()
}

/// What was compared, from the scenario.
fn compared(experiment: &Experiment) -> Markup {
    let setting = |key: &str| match experiment.setting(key)? {
        toml::Value::String(text) => Some(text),
        other => Some(other.to_string()),
    };
    let seeds = experiment.seeds.iter();
    html! {
        @if let Some(summary) = setting("summary") { p { (summary) } }
        dl {
            dt { "Arms" }
            dd { @for (i, arm) in experiment.arms.iter().enumerate() {
                @if i > 0 { br; }
                strong { (arm.name()) } ": " (arm.summary())
            } }
            dt { "Seeds" }
            dd { (seeds.start) ".." (seeds.end) ", the same scheduled faults for every arm of a seed" }
            @if let Some(clients) = setting("topology.clients") {
                dt { "Clients" }
                dd { (clients) " in each run" }
            }
            @if let Some(horizon) = setting("horizon_s") {
                dt { "Horizon" }
                dd { (horizon) " s of simulated time" }
            }
            @if experiment.points > 1 { dt { "Settings" } dd { (experiment.points) } }
        }
        pre { (experiment.command()) }
    }
}

/// What weakens the answer.
fn warnings(analysis: &Analysis) -> Markup {
    let runs: u64 = analysis.arms.iter().map(|arm| arm.runs).sum();
    let vacuous: u64 = analysis.arms.iter().map(|arm| arm.vacuous).sum();
    let censored: u64 = analysis.arms.iter().map(|arm| arm.censored).sum();
    html! {
        @if analysis.manifest.interrupted {
            p.warning { "The sweep was interrupted: this page covers " (count(runs, "run")) ", not the whole experiment." }
        }
        @if vacuous == 0 {
            p { "A fault took effect in every one of " (count(runs, "run")) "." }
        } @else {
            p.warning { (grouped(vacuous)) " of " (count(runs, "run")) " were vacuous: no fault took effect in them." }
        }
        @if censored == 0 {
            p { "No call was still pending when its run ended." }
        } @else {
            p.warning { (count(censored, "call")) " were still pending when their run ended; they count as hung." }
        }
    }
}

fn comparison(analysis: &Analysis) -> Markup {
    html! {
        div.scroll {
            table {
                thead { tr { th {} @for arm in &analysis.arms { th scope="col" { (arm.arm.name()) } } } }
                tbody {
                    @for (name, cells) in table::rows(analysis) {
                        tr { th scope="row" { (name) } @for cell in cells { td { (cell) } } }
                    }
                }
            }
        }
        @if !analysis.comparisons.is_empty() {
            p.muted { "Means over seeds, paired differences and the seeds in which one arm did better are in "
                code { "comparison.csv" } ", every count in " code { "summary.csv" } "." }
        }
    }
}

fn drawn(experiment: &Experiment, figure: &Figure) -> Markup {
    html! {
        figure id=(figure.name) {
            figcaption { (figure.caption) }
            div.card role="img" aria-label=(figure.caption) { (PreEscaped(&figure.svg)) }
            p.muted { strong { "How to read this. " } (figure.reading) }
            // The whole experiment's command stands at the top of the page.
            @if figure.command != experiment.command() { pre { (figure.command) } }
        }
    }
}

fn hung_runs(analysis: &Analysis) -> Markup {
    let notable = &analysis.notable;
    if notable.hung.is_empty() {
        return html! { p { "No call hung in any run." } };
    }
    html! {
        @if notable.hung_count > LISTED as u64 {
            p { "The first " (LISTED) " of " (grouped(notable.hung_count)) " runs; the others are in " code { "runs.csv" } "." }
        }
        div.scroll {
            table {
                thead { tr { th scope="col" { "seed" } th scope="col" { "arm" } th scope="col" { "hung" } th.command scope="col" { "watch it again" } } }
                tbody {
                    @for run in &notable.hung {
                        tr {
                            td { (run.seed) }
                            td { (run.arm.name()) }
                            td { (run.hung) " of " (run.calls) }
                            td.command { code { (analysis.manifest.experiment.replay_command(run.seed, run.arm)) } }
                        }
                    }
                }
            }
        }
    }
}

fn signatures(analysis: &Analysis) -> Markup {
    if analysis.signatures.is_empty() {
        return html! { p { "No resume was out of step in any run." } };
    }
    html! {
        div.scroll {
            table {
                thead { tr { th scope="col" { "signature" } @for arm in &analysis.arms { th scope="col" { (arm.arm.name()) } } } }
                tbody {
                    @for (signature, counts) in &analysis.signatures {
                        tr { th scope="row" { (signature) } @for count in counts { td { (grouped(*count)) } } }
                    }
                    tr { th scope="row" { "rule alarms that were right" }
                        @for arm in &analysis.arms { td { (arm.precision().map_or_else(|| "-".to_owned(), percent)) } } }
                    tr { th scope="row" { "losses that raised a rule alarm" }
                        @for arm in &analysis.arms { td { (arm.recall().map_or_else(|| "-".to_owned(), percent)) } } }
                }
            }
        }
    }
}

/// Where the answer ends.
fn honesty() -> Markup {
    html! {
        div.honesty {
            div { h3 { "Real" } ul {
                li { "HTTP/1.1 on every connection, and server-sent events and JSON-RPC of MCP revision 2025-11-25, as bytes" }
                li { "the validator: the same code that a client links" }
            } }
            div { h3 { "Simulated" } ul {
                li { "time; no wall clock takes part" }
                li { "TCP: ordered and reliable, with latency, stalls and refused connections" }
                li { "the gateway's timers, the servers' sessions, buffers and tools, the clients' applications" }
                li { "faults, scheduled from the seed and equal for every arm, or following from the settings" }
            } }
            div { h3 { "Not modelled" } ul {
                li { "packet loss, congestion, TLS, HTTP/2, DNS, authentication" }
                li { "processor time, clock skew, races inside one process" }
                li { "how often these faults happen in your production: shares are of this scenario's seeds" }
            } }
        }
    }
}

fn provenance(analysis: &Analysis) -> Markup {
    let manifest = &analysis.manifest;
    html! {
        dl {
            dt { "desync-sim" } dd { (manifest.build.version) ", commit " code { (manifest.build.git_commit) } }
            dt { "compiler" } dd { (manifest.build.rustc) }
            dt { "lock file" } dd { code { (manifest.build.cargo_lock_sha256) } }
            dt { "scenario" } dd { code { (manifest.experiment.scenario.sha256) } }
            @if let Some(profile) = &manifest.experiment.server_profile {
                dt { "server profile" } dd { (profile.name) ", " code { (profile.sha256) } }
            }
            dt { "all runs" } dd { code { (manifest.digest) } }
        }
        p.muted { "The same build, scenario and seeds give these digests again." }
    }
}
