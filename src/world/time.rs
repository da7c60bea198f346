//! Simulated time and the units that settings are written in.

use std::fmt;
use std::ops::{Add, Sub};
use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// An instant of simulated time, in whole microseconds since the start of the run.
///
/// Timers inside a host are exact; the delivery of a message is rounded up to the scenario's tick.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SimTime(u64);

impl SimTime {
    /// The start of the run.
    pub const ZERO: SimTime = SimTime(0);

    /// The instant `micros` microseconds after the start of the run.
    pub const fn from_micros(micros: u64) -> SimTime {
        SimTime(micros)
    }

    /// Microseconds since the start of the run.
    pub const fn as_micros(self) -> u64 {
        self.0
    }

    /// Seconds since the start of the run.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e6
    }

    /// The time from `earlier` to `self`, zero where `earlier` is the later one.
    pub fn since(self, earlier: SimTime) -> Duration {
        Duration::from_micros(self.0.saturating_sub(earlier.0))
    }
}

impl From<Duration> for SimTime {
    fn from(duration: Duration) -> SimTime {
        SimTime(u64::try_from(duration.as_micros()).unwrap_or(u64::MAX))
    }
}

impl Add<Duration> for SimTime {
    type Output = SimTime;

    fn add(self, duration: Duration) -> SimTime {
        SimTime(self.0.saturating_add(SimTime::from(duration).0))
    }
}

impl Sub for SimTime {
    type Output = Duration;

    fn sub(self, earlier: SimTime) -> Duration {
        self.since(earlier)
    }
}

/// Seconds with six decimals: the form of every time in the event log and in the result files.
impl fmt::Display for SimTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:06}", self.0 / 1_000_000, self.0 % 1_000_000)
    }
}

/// A span of time as written in a scenario file: a number of seconds, `60` or `0.25`.
///
/// Kept in whole microseconds; at most ten years, so that no sum of two can overflow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Seconds(Duration);

impl Seconds {
    const MAX_S: f64 = 10.0 * 365.0 * 86_400.0;

    /// `seconds` whole seconds.
    pub const fn new(seconds: u64) -> Seconds {
        Seconds(Duration::from_secs(seconds))
    }

    /// `millis` milliseconds.
    pub const fn from_millis(millis: u64) -> Seconds {
        Seconds(Duration::from_millis(millis))
    }

    /// `micros` microseconds.
    pub const fn from_micros(micros: u64) -> Seconds {
        Seconds(Duration::from_micros(micros))
    }

    /// The span as the standard library's type.
    pub const fn get(self) -> Duration {
        self.0
    }

    /// Whole microseconds.
    pub fn as_micros(self) -> u64 {
        SimTime::from(self.0).0
    }
}

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0.as_secs_f64())
    }
}

impl Serialize for Seconds {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0.subsec_micros() == 0 {
            serializer.serialize_u64(self.0.as_secs())
        } else {
            serializer.serialize_f64(self.0.as_secs_f64())
        }
    }
}

impl<'de> Deserialize<'de> for Seconds {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Seconds, D::Error> {
        struct Visitor;

        impl de::Visitor<'_> for Visitor {
            type Value = Seconds;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number of seconds, such as 60 or 0.25")
            }

            fn visit_i64<E: de::Error>(self, value: i64) -> Result<Seconds, E> {
                self.visit_f64(value as f64)
            }

            fn visit_u64<E: de::Error>(self, value: u64) -> Result<Seconds, E> {
                self.visit_f64(value as f64)
            }

            fn visit_f64<E: de::Error>(self, value: f64) -> Result<Seconds, E> {
                if !(0.0..=Seconds::MAX_S).contains(&value) {
                    return Err(E::custom(format!(
                        "{value} is not a time this simulator can keep: expected 0 to {} seconds",
                        Seconds::MAX_S
                    )));
                }
                Ok(Seconds(Duration::from_micros((value * 1e6).round() as u64)))
            }
        }

        deserializer.deserialize_any(Visitor)
    }
}
