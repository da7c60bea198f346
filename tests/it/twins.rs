//! Model against reality, whole runs: the same clients, gateway, seeds and disconnects, once in front of the server
//! model with the profile `rmcp` and once in front of the official Rust SDK's server. Call by call, both must come to
//! the same.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use desync_sim::experiment::scenario::{Scenario, Settings};
use desync_sim::mcp::client::policy::Policy;
use desync_sim::mcp::client::settings::Arm;
use desync_sim::mcp::client::workload::Workload;
use desync_sim::mcp::client::{Agent, Client};
use desync_sim::mcp::server::Server;
use desync_sim::mcp::server::fleet::Fleet;
use desync_sim::mcp::server::tools::plan;
use desync_sim::observe::event::{CallReport, Event};
use desync_sim::observe::witness::{Sink, Witness};
use desync_sim::world::draw::{Draws, Purpose};
use desync_sim::world::gateway::Gateway;
use desync_sim::world::interpose;
use desync_sim::world::links::Links;
use desync_sim::world::net::{Hosts, TurmoilBind, TurmoilDial, host_clock, sim_now};
use desync_sim::world::network::Network;
use desync_sim::world::schedule::Schedule;
use desync_sim::world::time::SimTime;

use super::answers::bare;

const SCENARIO: &str = include_str!("data/twins.toml");
const PORT: u16 = 80;

/// Whose server runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Twin {
    Model,
    Sdk,
}

/// What a call came to for the application.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Outcome {
    Completed,
    /// A success with parts missing, twice or mixed up.
    Wrong,
    Failed,
    Hung,
}

/// The outcome of each call, by client and number.
type Outcomes = BTreeMap<(u32, u32), Outcome>;

/// The calls that have ended.
struct Calls {
    settings: Settings,
    draws: Draws,
    outcomes: Outcomes,
}

impl Sink for Calls {
    fn record(&mut self, _at: SimTime, _host: &str, event: Event) {
        if let Event::CallEnded { client, call, report, .. } = event {
            let outcome = match report {
                CallReport::Success { checks } => {
                    let right = plan(&self.draws, &self.settings.tool, client, call).checks == checks;
                    if right { Outcome::Completed } else { Outcome::Wrong }
                }
                CallReport::Error { .. } => Outcome::Failed,
                CallReport::TimedOut => Outcome::Hung,
            };
            self.outcomes.insert((client, call), outcome);
        }
    }
}

/// One run of one seed.
fn run(scenario: &Scenario, seed: u64, twin: Twin) -> Outcomes {
    let settings = &scenario.settings;
    let (topology, horizon) = (&settings.topology, settings.horizon_s.get());
    let draws = Draws::new(&scenario.name, seed);
    let _inside = interpose::enter(host_clock, draws.stream(Purpose::OperatingSystem, 0));
    let faults = Schedule::generate(&settings.faults, settings.extent(), &draws).faults;
    let calls =
        Rc::new(RefCell::new(Calls { settings: settings.clone(), draws: draws.clone(), outcomes: Outcomes::new() }));
    let sink: Rc<RefCell<dyn Sink>> = calls.clone();
    let witness = |host: &str| Witness::new(host, sim_now, sink.clone());
    let hosts = Hosts::new(topology.sites, topology.servers);
    let mut network = Network::new(settings.tick_s, settings.horizon_s, &draws);

    let [server] = hosts.servers.as_slice() else { panic!("one server") };
    match twin {
        Twin::Model => {
            let fleet = Rc::new(Fleet::new(1));
            let rc = Rc::new(settings.server.clone());
            let model = Server::new(0, rc, settings.tool, draws.clone(), witness(server), fleet);
            network.host(server, move || model.clone().run(TurmoilBind::new(PORT), Vec::new()));
        }
        Twin::Sdk => {
            let (settings, draws) = (settings.clone(), draws.clone());
            network.host(server, move || bare::serve(settings.clone(), draws.clone(), None, TurmoilBind::new(PORT)));
        }
    }
    let upstream = vec![TurmoilDial::new(server, PORT)];
    let gateway = Gateway::new(settings.gateway.clone(), upstream, witness(&hosts.gateway));
    {
        let faults = faults.clone();
        network.host(&hosts.gateway, move || gateway.clone().run(TurmoilBind::new(PORT), faults.clone()));
    }
    for (site, name) in (0u32..).zip(&hosts.sites) {
        let crew: Vec<_> = (site..topology.clients)
            .step_by(topology.sites as usize)
            .map(|number| {
                let client = Client::new(
                    number,
                    Policy::new(Arm::Trusting, &settings.client, settings.server.grammar()),
                    Rc::new(settings.client.clone()),
                    TurmoilDial::new(&hosts.gateway, PORT),
                    Rc::new(Cell::new(0)),
                    draws.stream(Purpose::RetryJitter, u64::from(number)),
                    witness(name),
                );
                (client, Workload::draw(number, &settings.client, horizon, settings.drain().get(), &draws))
            })
            .collect();
        network.host(name, move || {
            let crew = crew.clone();
            async move {
                for (client, workload) in crew {
                    tokio::task::spawn_local(client.run(workload));
                }
                std::future::pending().await
            }
        });
    }
    let (latency, epoch) = (topology.latency_s, topology.latency_epoch_s);
    let mut links = Links::new(hosts.clone(), latency, epoch, &draws, &faults, sink.clone());
    while network.elapsed() < horizon {
        network.step(&mut links).expect("the network carries on");
    }
    std::mem::take(&mut calls.borrow_mut().outcomes)
}

/// How many calls came to `outcome`.
fn count(outcomes: &[Outcomes], outcome: Outcome) -> usize {
    outcomes.iter().flat_map(|run| run.values()).filter(|found| **found == outcome).count()
}

/// Both servers run the same tool at the same instants, and every harm comes from what the server keeps and answers: so
/// not shares are compared but each call.
#[test]
fn calls_come_to_the_same_with_the_model_and_with_the_sdk() {
    let scenario = Scenario::parse("twins.toml", SCENARIO, &[]).unwrap_or_else(|problems| panic!("{problems}"));
    let of = |twin| -> Vec<Outcomes> { (0..4).map(|seed| run(&scenario, seed, twin)).collect() };
    let (model, sdk) = (of(Twin::Model), of(Twin::Sdk));
    assert!(
        count(&model, Outcome::Completed) > 300 && count(&model, Outcome::Hung) > 40,
        "the scenario says too little"
    );
    for (seed, (model, sdk)) in model.iter().zip(&sdk).enumerate() {
        assert_eq!(model, sdk, "seed {seed}, by client and call");
    }
}
