//! One run: the hosts of a scenario put together on the simulated network and driven to the horizon.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::experiment::available::{self, Unavailable};
use crate::experiment::scenario::Settings;
use crate::mcp::client::policy::Policy;
use crate::mcp::client::settings::Arm;
use crate::mcp::client::workload::Workload;
use crate::mcp::client::{Agent, Client};
#[cfg(feature = "rmcp")]
use crate::mcp::sdk;
use crate::mcp::sdk::settings::Implementation;
use crate::mcp::server::Server;
use crate::mcp::server::fleet::Fleet;
use crate::observe::event::Event;
use crate::observe::witness::{Sink, Witness};
use crate::world::draw::{Draws, Purpose};
use crate::world::gateway::Gateway;
#[cfg(feature = "rmcp")]
use crate::world::interpose;
use crate::world::links::Links;
#[cfg(feature = "rmcp")]
use crate::world::net::host_clock;
use crate::world::net::{CountedDial, Hosts, TurmoilBind, TurmoilDial, sim_now};
use crate::world::network::{Network, NetworkFailed};
use crate::world::schedule::Schedule;

/// The port that the gateway and the servers listen on.
const PORT: u16 = 80;

/// Between two looks at the stop flag, in steps of the network.
const STEPS_BETWEEN_LOOKS: u64 = 1024;

/// Everything that a run depends on.
#[derive(Clone, Copy)]
pub struct RunSpec<'a> {
    /// The scenario's name: with the seed it makes the key of the random streams.
    pub name: &'a str,
    /// What is simulated.
    pub settings: &'a Settings,
    /// The seed.
    pub seed: u64,
    /// The client policy.
    pub arm: Arm,
    /// What strikes when.
    pub schedule: &'a Schedule,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// It reached the horizon.
    Horizon,
    /// The stop flag was set.
    Stopped,
}

/// Why a run did not get to an ending.
#[derive(Debug, thiserror::Error)]
pub enum SimulationFailed {
    /// It cannot be carried out here.
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
    /// The simulated network gave up.
    #[error(transparent)]
    Network(#[from] NetworkFailed),
}

/// Simulates one run into `sink`, from its start to its horizon or until `stop` is set.
pub fn simulate(
    spec: &RunSpec<'_>,
    sink: Rc<RefCell<dyn Sink>>,
    stop: &AtomicBool,
) -> Result<Ending, SimulationFailed> {
    available::check(spec.arm, spec.settings)?;
    let settings = spec.settings;
    let topology = &settings.topology;
    let draws = Draws::new(spec.name, spec.seed);
    #[cfg(feature = "rmcp")]
    let _inside = interpose::enter(host_clock, draws.stream(Purpose::OperatingSystem, 0));
    let horizon = settings.horizon_s.get();
    let witness = |host: &str| Witness::new(host, sim_now, sink.clone());

    let hosts = Hosts::new(topology.sites, topology.servers);
    let mut network = Network::new(settings.tick_s, settings.horizon_s, &draws);

    let fleet = Rc::new(Fleet::new(topology.servers));
    let server_settings = Rc::new(settings.server.clone());
    for (number, name) in (0..).zip(&hosts.servers) {
        let (settings, tool, draws, witness, fleet) =
            (server_settings.clone(), settings.tool, draws.clone(), witness(name), fleet.clone());
        let faults = spec.schedule.faults.clone();
        match settings.implementation {
            Implementation::Model => {
                let server = Server::new(number, settings, tool, draws, witness, fleet);
                network.host(name, move || server.clone().run(TurmoilBind::new(PORT), faults.clone()));
            }
            #[cfg(feature = "rmcp")]
            Implementation::Rmcp => {
                let server = sdk::server::SdkServer::new(number, settings, tool, draws, witness, fleet);
                network.host(name, move || server.clone().run(TurmoilBind::new(PORT), faults.clone()));
            }
            #[cfg(not(feature = "rmcp"))]
            Implementation::Rmcp => unreachable!("refused above: it is not built in"),
        }
    }

    let upstreams: Vec<TurmoilDial> = hosts.servers.iter().map(|name| TurmoilDial::new(name, PORT)).collect();
    let gateway = Gateway::new(settings.gateway.clone(), upstreams, witness(&hosts.gateway));
    {
        let faults = spec.schedule.faults.clone();
        network.host(&hosts.gateway, move || gateway.clone().run(TurmoilBind::new(PORT), faults.clone()));
    }

    let client_settings = Rc::new(settings.client.clone());
    let mut clients = Vec::new();
    for (site, name) in (0u32..).zip(&hosts.sites) {
        let witness = witness(name);
        let mut crew = Vec::new();
        for number in (site..topology.clients).step_by(topology.sites as usize) {
            let traffic = Rc::new(Cell::new(0));
            let dial = CountedDial::new(TurmoilDial::new(&hosts.gateway, PORT), traffic.clone());
            let client: Rc<dyn Agent> = match spec.arm.implementation() {
                Implementation::Model => Client::new(
                    number,
                    Policy::new(spec.arm, &settings.client, settings.server.grammar()),
                    client_settings.clone(),
                    dial,
                    traffic,
                    draws.stream(Purpose::RetryJitter, u64::from(number)),
                    witness.clone(),
                ),
                #[cfg(feature = "rmcp")]
                Implementation::Rmcp => {
                    let rules = (settings.server.grammar(), settings.client.rules.clone());
                    let guard = (spec.arm == Arm::RmcpGuarded).then_some(rules);
                    sdk::client::SdkClient::new(number, guard, client_settings.clone(), dial, traffic, witness.clone())
                }
                #[cfg(not(feature = "rmcp"))]
                Implementation::Rmcp => unreachable!("refused above: it is not built in"),
            };
            let workload = Workload::draw(number, &settings.client, horizon, settings.drain().get(), &draws);
            crew.push((client.clone(), workload));
            clients.push((name.as_str(), client));
        }
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

    let mut links = Links::new(
        hosts.clone(),
        topology.latency_s,
        topology.latency_epoch_s,
        &draws,
        &spec.schedule.faults,
        sink.clone(),
    );
    let mut steps: u64 = 0;
    while network.elapsed() < horizon {
        network.step(&mut links)?;
        steps += 1;
        if steps.is_multiple_of(STEPS_BETWEEN_LOOKS) && stop.load(Ordering::Relaxed) {
            return Ok(Ending::Stopped);
        }
    }
    let mut sink = sink.borrow_mut();
    let end = horizon.into();
    for (host, client) in clients {
        sink.record(end, host, client.done());
    }
    sink.record(end, "world", Event::Horizon);
    Ok(Ending::Horizon)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::scenario::Scenario;

    /// Sessions that are recycled and forgotten, legs that are cut, calls that are sent again.
    const EVENTFUL: &str = r#"format = 1
name = "eventful"
summary = "a little of everything"
seeds = "0..1"
arms = ["validating"]
horizon_s = 180

[server]
session_idle_s = 20

[server.churn]
interval_s = [1, 9]
burst_events = [1, 9]
quiet_every_bursts = 5
quiet_s = [20, 90]

[client]
call_interval_s = [10, 60]
call_timeout_s = 60

[faults.disconnect]
per_client_per_hour = 60
modes = ["reset", "half-open"]

[faults.session-recycle]
per_client_per_hour = 20
to = "same"
"#;

    /// A count of events and nothing else.
    #[derive(Default)]
    struct Count(u64);

    impl Sink for Count {
        fn record(&mut self, _at: crate::world::time::SimTime, _host: &str, _event: Event) {
            self.0 += 1;
        }
    }

    /// Every client, server, gateway and task holds a witness, and every witness holds the sink: what a run leaves in
    /// memory, a circle of counted references above all, would hold it still.
    #[test]
    fn a_run_leaves_nothing_in_memory() {
        let scenario = Scenario::parse("eventful.toml", EVENTFUL, &[]).expect("a scenario");
        let settings = &scenario.settings;
        for seed in 0..1 {
            let draws = Draws::new(&scenario.name, seed);
            let schedule = Schedule::generate(&settings.faults, settings.extent(), &draws);
            let built_in = |arm: &Arm| cfg!(feature = "rmcp") || arm.implementation() == Implementation::Model;
            for arm in Arm::ALL.into_iter().filter(built_in) {
                let spec = RunSpec { name: &scenario.name, settings, seed, arm, schedule: &schedule };
                let sink = Rc::new(RefCell::new(Count::default()));
                simulate(&spec, sink.clone(), &AtomicBool::new(false)).expect("a network");
                assert!(sink.borrow().0 > 500, "seed {seed} {arm}: hardly anything happened");
                assert_eq!(Rc::strong_count(&sink), 1, "seed {seed} {arm}");
            }
        }
    }
}
