use std::fs;
use std::path::Path;

use super::*;
use crate::experiment::results::fixture::Fixture;
use crate::mcp::client::settings::Arm;
use crate::observe::measure::record;

const FIGURES: [&str; 5] = ["completion", "detection", "hung", "restart", "timeline"];

/// Results of made-up runs with everything derived from them, in a folder that goes with the test.
struct Rendered {
    parent: tempfile::TempDir,
}

fn no_picture(_: &str) -> Result<Vec<u8>, String> {
    Ok(Vec::new())
}

impl Rendered {
    fn new(fixture: &Fixture) -> Rendered {
        let parent = tempfile::tempdir().unwrap();
        render_with(&fixture.write(parent.path(), "incident"), no_picture).unwrap();
        Rendered { parent }
    }

    fn read(&self, file: &str) -> Vec<u8> {
        fs::read(self.parent.path().join("incident").join(file)).unwrap()
    }

    fn text(&self, file: &str) -> String {
        String::from_utf8(self.read(file)).unwrap()
    }

    /// The texts of a figure, in the order of drawing.
    fn words(&self, figure: &str) -> String {
        words(&self.text(&format!("plots/{figure}.svg")))
    }
}

fn words(svg: &str) -> String {
    let texts = svg.split("<text ").skip(1).map(|element| {
        let (_, rest) = element.split_once('>').unwrap();
        rest.split_once("</text>").unwrap().0.trim()
    });
    texts.collect::<Vec<_>>().join("\n")
}

#[test]
fn a_report_has_a_table_five_figures_and_a_page() {
    let parent = tempfile::tempdir().unwrap();
    render(&Fixture::default().write(parent.path(), "incident")).unwrap();
    let rendered = Rendered { parent };
    for figure in FIGURES {
        assert!(rendered.text(&format!("plots/{figure}.svg")).starts_with("<svg"), "{figure}");
        assert!(rendered.read(&format!("plots/{figure}.png")).starts_with(b"\x89PNG"), "{figure}");
    }
    assert!(rendered.text("summary.csv").starts_with("arm,runs,"));
    assert!(rendered.text("comparison.csv").starts_with("measure,"));
    assert!(rendered.text("report.html").starts_with("<!DOCTYPE html>"));
}

#[test]
fn the_same_results_give_the_same_bytes() {
    let (a, b) = (Rendered::new(&Fixture::default()), Rendered::new(&Fixture::default()));
    let files = FIGURES.iter().flat_map(|f| [format!("plots/{f}.svg"), format!("plots/{f}.png")]);
    for file in files.chain(["report.html".to_owned()]) {
        assert_eq!(a.read(&file), b.read(&file), "{file}");
    }
}

#[test]
fn a_report_made_again_replaces_the_first() {
    let rendered = Rendered::new(&Fixture::default());
    let before = rendered.read("report.html");
    let dir = rendered.parent.path().join("incident");
    render_with(&dir, no_picture).unwrap();
    assert_eq!(rendered.read("report.html"), before);
    let hidden = |entry: &fs::DirEntry| entry.file_name().to_string_lossy().starts_with('.');
    assert_eq!(fs::read_dir(&dir).unwrap().flatten().filter(hidden).count(), 0);
}

#[test]
fn the_table_fits_a_terminal() {
    let rendered =
        Rendered::new(&Fixture { arms: vec![Arm::Trusting, Arm::Validating, Arm::NoCursor], ..Fixture::default() });
    let text = table_of(&rendered.parent.path().join("incident")).unwrap();
    assert!(text.lines().all(|line| line.chars().count() <= 100));
    insta::assert_snapshot!(text);
}

#[test]
fn the_figures_say_what_they_show() {
    let rendered = Rendered::new(&Fixture::default());
    for figure in FIGURES {
        insta::assert_snapshot!(format!("words of {figure}"), rendered.words(figure));
    }
}

#[test]
fn every_figure_carries_the_command_that_draws_it_again() {
    let rendered = Rendered::new(&Fixture::default());
    for figure in ["completion", "detection", "hung", "restart"] {
        assert!(rendered.words(figure).ends_with("desync-sim run incident --seeds 0..6"), "{figure}");
    }
    assert!(rendered.words("timeline").ends_with("desync-sim run incident --seeds 0..1"));
}

/// A desync that is noticed in the instant of the answer: once it stretched the axis down to a microsecond.
#[test]
fn a_latency_of_nothing_stands_on_the_axis_floor() {
    let parent = tempfile::tempdir().unwrap();
    let dir = Fixture::default().write(parent.path(), "incident");
    let mut analysis = stats::analyse(&ResultFolder::open(&dir).unwrap()).unwrap();
    record(&mut analysis.arms[1].detection, 0);
    let words = words(&plots::detection::draw(&analysis, "")).lines().map(str::to_owned).collect::<Vec<_>>();
    assert!(words.contains(&"≤ 0.01".to_owned()), "{words:?}");
    assert!(!words.iter().any(|word| word.starts_with("0.00")), "{words:?}");
}

/// The axis once ended with the last call; what came later was drawn at its edge, at a wrong time.
#[test]
fn a_timeline_reaches_to_what_comes_after_the_last_call() {
    let run = Fixture::default().run(0, Arm::Validating);
    let mut late = run.desyncs[0].clone();
    late.exposed_at_s = "900.000000".to_owned();
    let svg = timeline(&run.calls, &[], &[late], "one client", "");
    assert!(words(&svg).lines().any(|word| word == "900"));
}

#[test]
fn a_small_figure_is_drawn_so() {
    let fixture = Fixture { seeds: 1, clients: 1, calls: 2, recycle_every: 2, ..Fixture::default() };
    let run = fixture.run(0, Arm::Validating);
    let svg = timeline(&run.calls, &run.faults, &run.desyncs, "one client", "desync-sim replay incident");
    insta::assert_snapshot!(svg);
}

/// No case has anything to plot somewhere; each still says so in every figure.
#[test]
fn results_with_little_in_them_are_told_in_sentences() {
    let base = Fixture::default();
    let cases = [
        Fixture { recycle_every: 0, ..base.clone() },
        Fixture { clients: 0, ..base.clone() },
        Fixture { seeds: 1, arms: vec![Arm::Trusting], ..base.clone() },
        Fixture { seeds: 1, arms: vec![Arm::Validating], clients: 1, calls: 4, ..base.clone() },
        Fixture { seeds: 0, ..base.clone() },
    ];
    let said: Vec<String> = cases
        .iter()
        .map(|fixture| {
            let rendered = Rendered::new(fixture);
            let page = rendered.text("report.html");
            let answer = page.split("class=\"answer\">").nth(1).unwrap().split("</p>").next().unwrap();
            let detection = rendered.words("detection");
            let restart = rendered.words("restart");
            format!("== {}\n{answer}\n{}\n{}", fixture.label(), detection, restart)
        })
        .collect();
    insta::assert_snapshot!(said.join("\n"));
}

#[test]
fn many_clients_are_cut_to_those_that_met_trouble() {
    let fixture = Fixture { clients: 60, seeds: 2, recycle_every: 97, ..Fixture::default() };
    let words = Rendered::new(&fixture).words("timeline");
    assert!(words.contains("44 others are left out"), "{words}");
}

#[test]
fn texts_of_files_cannot_break_out_of_the_page() {
    let parent = tempfile::tempdir().unwrap();
    let dir = Fixture::default().write(parent.path(), "incident");
    let manifest = dir.join("manifest.json");
    let text = fs::read_to_string(&manifest).unwrap();
    let text = text
        .replace("Session keys", "<script>alert(1)</script>")
        .replace("\"name\": \"incident\"", "\"name\": \"</title><b>\\u0001&\"");
    fs::write(&manifest, text).unwrap();
    let desyncs = dir.join("desyncs.csv");
    let text = fs::read_to_string(&desyncs).unwrap();
    fs::write(&desyncs, text.replace(",regression,session", ",<i>&amp;,session")).unwrap();
    render_with(&dir, no_picture).unwrap();
    let page = fs::read_to_string(dir.join("report.html")).unwrap();
    for raw in ["<script", "<b>", "<i>", "</title><b"] {
        assert!(!page.contains(raw), "{raw}");
    }
    assert!(page.contains("&lt;script&gt;alert(1)"));
    assert!(page.contains("&lt;i&gt;&amp;amp;"));
}

#[test]
fn the_page_needs_no_network() {
    let page = Rendered::new(&Fixture::default()).text("report.html");
    for reference in ["src=", "href=", "@import", "url("] {
        assert!(!page.contains(reference), "{reference}");
    }
    let names = page.matches("http").count();
    assert_eq!(names, page.matches("http://www.w3.org/2000/svg").count(), "only the SVG namespace");
}

#[test]
fn an_interrupted_sweep_and_vacuous_runs_are_said_on_the_page() {
    let parent = tempfile::tempdir().unwrap();
    let dir = Fixture { recycle_every: 0, ..Fixture::default() }.write(parent.path(), "incident");
    let manifest = dir.join("manifest.json");
    let text = fs::read_to_string(&manifest).unwrap();
    fs::write(&manifest, text.replace("\"interrupted\": false", "\"interrupted\": true")).unwrap();
    render_with(&dir, no_picture).unwrap();
    let page = fs::read_to_string(dir.join("report.html")).unwrap();
    assert!(page.contains("The sweep was interrupted: this page covers 12 runs"));
    assert!(page.contains("12 of 12 runs were vacuous"));
}

#[test]
fn damaged_results_are_refused_before_anything_is_written() {
    let parent = tempfile::tempdir().unwrap();
    let dir = Fixture::default().write(parent.path(), "incident");
    fs::remove_file(dir.join("calls.csv")).unwrap();
    let error = render(&dir).unwrap_err();
    assert!(error.to_string().contains("calls.csv"), "{error}");
    assert!(!dir.join("summary.csv").exists());
    assert!(!dir.join("report.html").exists());
}

#[test]
#[ignore = "writes reports of made-up results to target/reports for a person to look at"]
fn reports_to_look_at() {
    let base = Fixture::default();
    let parent = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/reports");
    let cases = [
        ("two arms", base.clone()),
        ("three arms", Fixture { arms: vec![Arm::Trusting, Arm::Validating, Arm::NoCursor], ..base.clone() }),
        ("many", Fixture { seeds: 40, clients: 60, calls: 40, recycle_every: 97, ..base.clone() }),
        ("vacuous", Fixture { recycle_every: 0, ..base.clone() }),
        ("no calls", Fixture { clients: 0, ..base.clone() }),
        ("one run", Fixture { seeds: 1, arms: vec![Arm::Validating], clients: 1, calls: 4, ..base }),
    ];
    for (name, fixture) in cases {
        render(&fixture.write(&parent, name)).unwrap();
    }
}
