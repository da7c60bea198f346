//! One server and one scripted client on a simulated network.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use desync_sim::experiment::scenario::{Override, Scenario, Settings};
#[cfg(feature = "rmcp")]
use desync_sim::mcp::sdk::server::SdkServer;
use desync_sim::mcp::server::Server;
use desync_sim::mcp::server::fleet::Fleet;
use desync_sim::observe::event::Event;
use desync_sim::observe::witness::{Sink, Witness};
use desync_sim::world::draw::{Draws, Span};
use desync_sim::world::fault::{Fault, Keep};
use desync_sim::world::links::Links;
use desync_sim::world::net::{Hosts, TurmoilBind, TurmoilDial, sim_now};
use desync_sim::world::network::Network;
use desync_sim::world::schedule::ScheduledFault;
use desync_sim::world::time::{Seconds, SimTime};

#[cfg(feature = "rmcp")]
use super::bare;
use super::case::{Answer, Case};
use super::client::Client;

const PORT: u16 = 80;

/// No script takes longer.
const HORIZON: Seconds = Seconds::new(1000);

/// Whose server is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// The model, with the profile of the case.
    Model,
    /// The official Rust SDK's, as runs have it.
    Sdk,
    /// The official Rust SDK's, with nothing around it, not even an event store: what runs put around it must change no
    /// answer.
    #[cfg(feature = "rmcp")]
    BareSdk,
}

impl Subject {
    /// Whether everything is there that it needs for `case`.
    pub fn can_play(self, case: &Case) -> bool {
        #[cfg(feature = "rmcp")]
        if self == Subject::BareSdk && case.set.iter().any(|change| change.contains("event_store")) {
            return false;
        }
        self == Subject::Model || !case.needs_clock || is_clock_simulated()
    }
}

/// Whether code that asks the operating system for the time is told the simulation's.
fn is_clock_simulated() -> bool {
    #[cfg(feature = "rmcp")]
    return desync_sim::world::interpose::is_supported();
    #[cfg(not(feature = "rmcp"))]
    return false;
}

/// Five parts, half a second apart: a call that is cut after its second part is over within the watch.
const SCENARIO: &str = r#"format = 1
name = "answers"
summary = "one server, asked by a script"
seeds = "0..1"
arms = ["trusting"]
horizon_s = 1000

[tool]
parts = 5
interval_s = 0.5
"#;

fn settings(case: &Case, subject: Subject) -> Settings {
    let mut changes = vec![format!("server.profile={}", case.profile)];
    changes.extend(case.set.iter().cloned());
    if subject != Subject::Model {
        changes.push("server.implementation=rmcp".to_owned());
    }
    let changes: Vec<Override> = changes.iter().map(|change| change.parse().expect("a change")).collect();
    let scenario = Scenario::parse("answers.toml", SCENARIO, &changes);
    scenario.unwrap_or_else(|problems| panic!("{}: {problems}", case.name)).settings
}

fn faults(case: &Case) -> Vec<ScheduledFault> {
    let restart = case.restart_at_s.map(|at_s| ScheduledFault {
        at_s: Seconds::from_millis((at_s * 1000.0) as u64),
        fault: Fault::ServerShutdown { server: 0, down_s: Seconds::new(1), keep: Keep::default() },
    });
    restart.into_iter().collect()
}

/// What `subject` answers to the script of `case`.
pub fn play(case: &Case, subject: Subject) -> Vec<Answer> {
    let settings = settings(case, subject);
    let draws = Draws::new(&case.name, 1);
    let sink: Rc<RefCell<dyn Sink>> = Rc::new(RefCell::new(Nothing));
    #[cfg(feature = "rmcp")]
    let _inside = {
        use desync_sim::world::{draw::Purpose, interpose, net::host_clock};
        interpose::enter(host_clock, draws.stream(Purpose::OperatingSystem, 0))
    };

    let hosts = Hosts::new(1, 1);
    let mut network = Network::new(Seconds::from_millis(10), HORIZON, &draws);
    let (name, fleet) = (&hosts.servers[0], Rc::new(Fleet::new(1)));
    let witness = Witness::new(name, sim_now, sink.clone());
    let faults = faults(case);
    match subject {
        Subject::Model => {
            let server = Server::new(0, Rc::new(settings.server), settings.tool, draws.clone(), witness, fleet);
            network.host(name, move || server.clone().run(TurmoilBind::new(PORT), faults.clone()));
        }
        #[cfg(feature = "rmcp")]
        Subject::Sdk => {
            let server = SdkServer::new(0, Rc::new(settings.server), settings.tool, draws.clone(), witness, fleet);
            network.host(name, move || server.clone().run(TurmoilBind::new(PORT), faults.clone()));
        }
        #[cfg(feature = "rmcp")]
        Subject::BareSdk => {
            let restart_at = case.restart_at_s.map(Duration::from_secs_f64);
            let draws = draws.clone();
            network
                .host(name, move || bare::serve(settings.clone(), draws.clone(), restart_at, TurmoilBind::new(PORT)));
        }
        #[cfg(not(feature = "rmcp"))]
        Subject::Sdk => unreachable!("the SDK is not built in"),
    }
    network.host(&hosts.gateway, std::future::pending);

    let played = Rc::new(RefCell::new(None));
    {
        let (case, dial, played) = (case.clone(), TurmoilDial::new(name, PORT), played.clone());
        network.host(&hosts.sites[0], move || {
            let (case, client, played) = (case.clone(), Client::new(dial.clone()), played.clone());
            async move {
                let answers = client.play(&case).await;
                played.replace(Some(answers));
                std::future::pending().await
            }
        });
    }
    let latency = Span::exactly(Seconds::from_millis(1));
    let mut links = Links::new(hosts.clone(), latency, Seconds::new(1000), &draws, &[], sink);
    while played.borrow().is_none() && network.elapsed() < Duration::from_secs(990) {
        network.step(&mut links).expect("the network carries on");
    }
    let answers = played.take().unwrap_or_else(|| Err("the script does not come to its end".to_owned()));
    answers.unwrap_or_else(|error| panic!("{}: {subject:?}: {error}", case.name))
}

struct Nothing;

impl Sink for Nothing {
    fn record(&mut self, _at: SimTime, _host: &str, _event: Event) {}
}
