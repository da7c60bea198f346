//! The judgement of one resume, as pure functions.

use super::logs::Logs;
use super::stream::{Place, StreamId};
use crate::observe::verdict::Signature;

/// Whether a leg that starts at `found` continues a stream whose next event is at `expected`.
pub(super) fn is_coherent(found: Option<Place>, expected: Place) -> bool {
    found.is_some_and(|found| (found.log, found.position) == (expected.log, expected.position))
}

/// The signature that the ground truth decides, before any event is seen.
pub(super) fn by_truth(found: Option<Place>, expected: Place, (client, stream): StreamId) -> Option<Signature> {
    let found = found?;
    let foreign = found.identity.is_some_and(|identity| identity.is_foreign(client, stream, expected.identity));
    if foreign {
        Some(Signature::Foreign)
    } else if found.log == expected.log && found.position < expected.position {
        Some(Signature::Duplicate)
    } else {
        None
    }
}

/// The signature of a leg that brought no data.
pub(super) const fn without_data(primed: bool, ended: bool) -> Signature {
    match (primed, ended) {
        (true, _) => Signature::NoReplay,
        (false, true) => Signature::EmptyLeg,
        (false, false) => Signature::Silence,
    }
}

/// Whether a leg at `found` loses or mixes up events of a stream whose next event is at `expected`.
///
/// A leg that will never carry anything does harm only if there is something to carry: with nothing appended since and
/// the log alive, the stream is where the client left it.
pub(super) fn is_harmful(found: Option<Place>, expected: Place, logs: &Logs) -> bool {
    match found {
        Some(found) if found.log == expected.log => found.position > expected.position,
        Some(_) => true,
        None => logs.get(expected.log).is_none_or(|log| log.head > expected.position),
    }
}
