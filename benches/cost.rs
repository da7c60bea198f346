//! What a simulation costs: `cargo bench --bench cost`.

#[path = "support/bare_turmoil.rs"]
mod bare_turmoil;

use std::time::Duration;

use desync_sim::world::time::Seconds;

use self::bare_turmoil::{Flow, Load, bare};

fn main() {
    let load = Load {
        clients: 100,
        sites: 4,
        horizon: Seconds::new(600),
        tick: Seconds::from_millis(10),
        down: Flow { messages: 290, bytes: 200, interval: Duration::from_secs(2) },
        up: Flow { messages: 9, bytes: 400, interval: Duration::from_secs(60) },
    };
    let cost = bare(load);
    let expected = 100 * (290 * 200 + 9 * 400);
    assert_eq!(cost.bytes, expected, "the yardstick moved other bytes than it was told to");
    println!(
        "bare turmoil: {:.3} s of wall time, {} bytes, {:.0} simulated seconds per second",
        cost.wall.as_secs_f64(),
        cost.bytes,
        load.horizon.get().as_secs_f64() / cost.wall.as_secs_f64(),
    );
}
