//! Named random streams: one ChaCha key per (scenario name, seed), one stream per purpose and entity.
//!
//! No draw of one entity can shift another's, so that a client policy that sends one more request
//! does not change anybody's faults, arrivals or latencies (common random numbers).
//!
//! All sampling is done on integers: the same numbers come out on every platform.

use std::fmt;
use std::time::Duration;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use sha2::{Digest, Sha256};

use super::time::Seconds;

/// What a random stream is for. A new purpose gets a new number; numbers are never used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u16)]
pub enum Purpose {
    /// When a client starts and when its calls and session ends fall.
    Arrivals = 1,
    /// When faults strike and whom. The entity is the fault kind and client.
    Faults = 2,
    /// The latency of one link over time.
    LinkLatency = 3,
    /// The values of session keys handed out by one server.
    SessionKeys = 4,
    /// The parts of one tool call: how many, how far apart, their check values.
    ToolResults = 5,
    /// The jitter of one client's reconnection delays.
    RetryJitter = 6,
    /// Notifications that fill one client's buffer.
    Churn = 7,
    /// Epoch tags and opaque event ids of one server.
    EventIds = 8,
    /// The simulated network's own generator.
    Network = 9,
    /// What the operating system answers when code inside a run asks it for entropy.
    OperatingSystem = 10,
}

/// The key of one run's random streams.
#[derive(Clone)]
pub struct Draws {
    key: [u8; 32],
}

impl Draws {
    /// The streams of `seed` in the scenario called `scenario`.
    pub fn new(scenario: &str, seed: u64) -> Draws {
        let mut hash = Sha256::new();
        hash.update(b"desync-sim/1/");
        hash.update(scenario.as_bytes());
        hash.update([0]);
        hash.update(seed.to_le_bytes());
        Draws { key: hash.finalize().into() }
    }

    /// The stream of `purpose` for `entity` (at most 2^48 entities a purpose).
    pub fn stream(&self, purpose: Purpose, entity: u64) -> Stream {
        assert!(entity < 1 << 48, "a random stream's entity has at most 48 bits");
        let mut rng = ChaCha8Rng::from_seed(self.key);
        rng.set_stream((u64::from(purpose as u16) << 48) | entity);
        Stream { rng }
    }
}

/// One stream of random numbers.
#[derive(Clone)]
pub struct Stream {
    rng: ChaCha8Rng,
}

impl Stream {
    /// 64 uniform bits.
    pub fn bits(&mut self) -> u64 {
        self.rng.next_u64()
    }

    /// A uniform number in `low..=high`, by multiplication and rejection (Lemire 2019), so exactly uniform.
    pub fn between(&mut self, low: u64, high: u64) -> u64 {
        assert!(low <= high, "an empty range has no numbers to draw");
        let Some(width) = (high - low).checked_add(1) else {
            return self.bits();
        };
        let threshold = width.wrapping_neg() % width;
        loop {
            let wide = u128::from(self.bits()) * u128::from(width);
            if (wide as u64) >= threshold {
                return low + (wide >> 64) as u64;
            }
        }
    }

    /// A uniform value of `span`.
    pub fn within<T: Drawn>(&mut self, span: Span<T>) -> T {
        T::from_units(self.between(span.min.to_units(), span.max.to_units()))
    }

    /// A uniform duration of `span`, in whole microseconds.
    pub fn duration(&mut self, span: Span<Seconds>) -> Duration {
        self.within(span).get()
    }

    /// Whether an event of probability `numerator / denominator` happens.
    pub fn happens(&mut self, numerator: u64, denominator: u64) -> bool {
        self.between(1, denominator) <= numerator
    }

    /// One of `items`, each as likely as the next.
    ///
    /// # Panics
    /// Where `items` is empty.
    pub fn choose<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.between(0, items.len() as u64 - 1) as usize]
    }
}

/// A quantity that can be drawn uniformly: it has an integer unit.
pub trait Drawn: Copy + PartialOrd {
    /// The value in its smallest unit.
    fn to_units(self) -> u64;
    /// The value of `units` smallest units.
    fn from_units(units: u64) -> Self;
}

impl Drawn for u32 {
    fn to_units(self) -> u64 {
        u64::from(self)
    }

    fn from_units(units: u64) -> u32 {
        u32::try_from(units).expect("a draw lies between two values of its type")
    }
}

impl Drawn for Seconds {
    fn to_units(self) -> u64 {
        self.as_micros()
    }

    fn from_units(units: u64) -> Seconds {
        Seconds::from_micros(units)
    }
}

/// An inclusive range to draw from, written `[low, high]` or as one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span<T> {
    min: T,
    max: T,
}

impl<T: Copy + PartialOrd> Span<T> {
    /// `min..=max`, or `None` where `min > max`.
    pub fn new(min: T, max: T) -> Option<Span<T>> {
        (min <= max).then_some(Span { min, max })
    }

    /// Exactly `value`.
    pub const fn exactly(value: T) -> Span<T> {
        Span { min: value, max: value }
    }

    /// The smallest value.
    pub const fn min(&self) -> T {
        self.min
    }

    /// The largest value.
    pub const fn max(&self) -> T {
        self.max
    }
}

impl<T: Serialize + PartialEq> Serialize for Span<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.min == self.max { self.min.serialize(serializer) } else { (&self.min, &self.max).serialize(serializer) }
    }
}

impl<'de, T> Deserialize<'de> for Span<T>
where
    T: Deserialize<'de> + Copy + PartialOrd + fmt::Display,
{
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Span<T>, D::Error> {
        struct Visitor<T>(std::marker::PhantomData<T>);

        impl<'de, T> de::Visitor<'de> for Visitor<T>
        where
            T: Deserialize<'de> + Copy + PartialOrd + fmt::Display,
        {
            type Value = Span<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number, or a range [low, high]")
            }

            fn visit_i64<E: de::Error>(self, value: i64) -> Result<Span<T>, E> {
                T::deserialize(de::value::I64Deserializer::<E>::new(value)).map(Span::exactly)
            }

            fn visit_f64<E: de::Error>(self, value: f64) -> Result<Span<T>, E> {
                T::deserialize(de::value::F64Deserializer::<E>::new(value)).map(Span::exactly)
            }

            fn visit_seq<A: de::SeqAccess<'de>>(self, mut seq: A) -> Result<Span<T>, A::Error> {
                let low = seq.next_element()?.ok_or_else(|| de::Error::invalid_length(0, &self))?;
                let high = seq.next_element()?.ok_or_else(|| de::Error::invalid_length(1, &self))?;
                if seq.next_element::<de::IgnoredAny>()?.is_some() {
                    return Err(de::Error::custom("a range has two ends: [low, high]"));
                }
                Span::new(low, high).ok_or_else(|| {
                    de::Error::custom(format!("the range [{low}, {high}] is empty: its low end is above its high end"))
                })
            }
        }

        deserializer.deserialize_any(Visitor(std::marker::PhantomData))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draws() -> Draws {
        Draws::new("test", 7)
    }

    fn numbers(mut stream: Stream) -> Vec<u64> {
        (0..8).map(|_| stream.bits()).collect()
    }

    #[test]
    fn a_stream_is_the_same_whenever_it_is_taken() {
        let draws = draws();
        let mut other = draws.stream(Purpose::Faults, 3);
        other.bits();
        assert_eq!(numbers(draws.stream(Purpose::Churn, 3)), numbers(draws.stream(Purpose::Churn, 3)));
    }

    #[test]
    fn streams_differ_by_scenario_seed_purpose_and_entity() {
        let mut seen = Vec::new();
        for (name, seed) in [("a", 1), ("a", 2), ("b", 1)] {
            for purpose in [Purpose::Arrivals, Purpose::Churn] {
                for entity in [0, 1, (1 << 48) - 1] {
                    seen.push(numbers(Draws::new(name, seed).stream(purpose, entity)));
                }
            }
        }
        let all = seen.len();
        seen.sort();
        seen.dedup();
        assert_eq!(seen.len(), all);
    }

    /// The first numbers of one stream, written down once: if they change, no recorded seed replays.
    #[test]
    fn recorded_seeds_keep_their_numbers() {
        let mut stream = Draws::new("incident", 0).stream(Purpose::Arrivals, 0);
        assert_eq!([stream.bits(), stream.between(1, 6), stream.between(0, 999)], RECORDED);
    }

    const RECORDED: [u64; 3] = [5_365_460_594_206_449_674, 5, 867];

    #[test]
    fn every_number_of_a_range_comes_up_about_equally_often_and_no_other() {
        let mut stream = draws().stream(Purpose::Faults, 0);
        let mut counts = [0u32; 6];
        for _ in 0..60_000 {
            counts[usize::try_from(stream.between(1, 6) - 1).unwrap()] += 1;
        }
        // Five standard deviations of a binomial count around 10 000.
        assert!(counts.iter().all(|count| count.abs_diff(10_000) < 457), "{counts:?}");
    }

    #[test]
    fn the_widest_range_can_be_drawn_from() {
        let mut stream = draws().stream(Purpose::Faults, 0);
        let mut same = stream.clone();
        assert_eq!(stream.between(0, u64::MAX), same.bits());
        assert_eq!(stream.between(9, 9), 9);
    }

    #[test]
    fn chances_are_exact_at_both_ends() {
        let mut stream = draws().stream(Purpose::Faults, 0);
        assert!((0..1000).all(|_| !stream.happens(0, 3600)));
        assert!((0..1000).all(|_| stream.happens(3600, 3600)));
    }

    #[test]
    fn spans_are_written_as_a_number_or_as_a_range() {
        #[derive(Debug, PartialEq, Deserialize, Serialize)]
        struct Table {
            span: Span<Seconds>,
        }
        let table = |text: &str| toml::from_str::<Table>(text).map(|table| table.span);
        assert_eq!(table("span = 3").unwrap(), Span::exactly(Seconds::new(3)));
        assert_eq!(table("span = [0.5, 3]").unwrap(), Span::new(Seconds::from_millis(500), Seconds::new(3)).unwrap());
        for (text, complaint) in [
            ("span = [3, 1]", "the range [3, 1] is empty"),
            ("span = [1, 2, 3]", "a range has two ends"),
            ("span = [1]", "invalid length 1"),
            ("span = '3s'", "expected a number, or a range [low, high]"),
            ("span = -1", "-1 is not a time this simulator can keep"),
            ("span = nan", "is not a time this simulator can keep"),
        ] {
            let error = table(text).unwrap_err().to_string();
            assert!(error.contains(complaint), "{text}: {error}");
        }
    }
}
