//! The simulated network of one run: hosts are registered, then it is stepped to the horizon.

use std::future::Future;
use std::io;
use std::time::Duration;

use super::draw::Draws;
use super::links::Links;
use super::net::network;
use super::time::Seconds;

/// A simulated network and the links that are driven between its steps.
pub struct Network<'a> {
    sim: turmoil::Sim<'a>,
}

/// The simulated network gave up: a host failed, or turmoil found a rule of its own broken.
#[derive(Debug, thiserror::Error)]
#[error("the simulated network failed: {0}")]
pub struct NetworkFailed(String);

impl<'a> Network<'a> {
    /// A network without hosts, on which nothing depends but `draws`.
    pub fn new(tick: Seconds, horizon: Seconds, draws: &Draws) -> Network<'a> {
        Network { sim: network(tick, horizon, draws).build() }
    }

    /// Registers a host and starts `software` on it. The order of registration is part of a run: addresses are handed
    /// out in it, and hosts take their turns in it.
    pub fn host<F>(&mut self, name: &str, software: impl Fn() -> F + 'a)
    where
        F: Future<Output = io::Result<()>> + 'static,
    {
        self.sim.host(name, move || {
            let software = software();
            async move { Ok(software.await?) }
        });
    }

    /// Applies what is due on `links`, then lets every host run for one tick.
    pub fn step(&mut self, links: &mut Links) -> Result<(), NetworkFailed> {
        links.apply(&self.sim);
        self.sim.step().map(drop).map_err(|error| NetworkFailed(error.to_string()))
    }

    /// Simulated time since the start of the run.
    pub fn elapsed(&self) -> Duration {
        self.sim.elapsed()
    }
}
