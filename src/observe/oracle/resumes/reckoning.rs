//! The verdicts on legs: opened at the answer, closed when nothing can change them any more.

use super::super::faults::Faults;
use super::super::judge;
use super::super::logs::Loss;
use super::super::stream::{Stream, StreamOf};
use super::Resumes;
use crate::observe::event::{Cause, ClientNo, RequestNo};
use crate::observe::verdict::{DesyncVerdict, Signature};
use crate::world::time::SimTime;

/// Whether a stream whose story ends may be counted as a missed desync.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Reckoning {
    /// The client had its chance.
    Missed,
    /// A rule alarm about another leg of the session came first; what has shown no data by then is not held against it.
    Forestalled,
}

impl Resumes {
    /// Finds out whether a resume is coherent, and opens a row if it is not.
    pub(super) fn judge(&mut self, at: SimTime, client: ClientNo, request: RequestNo, faults: &mut Faults) {
        let row = self.rows.len();
        let Some((stream, leg)) = self.leg(client, request) else {
            return;
        };
        let found = leg.place_of(0);
        let Some(resume) = leg.resume.as_mut().filter(|resume| resume.desync.is_none()) else {
            return;
        };
        // A client that was never attached to anything has nothing to lose.
        let Some(expected) = resume.expected else {
            return;
        };
        if judge::is_coherent(found, expected) {
            return;
        }
        let of = leg.stream;
        let truth = judge::by_truth(found, expected, (client, of));
        resume.desync = Some(row);
        resume.signed = truth.is_some();
        let loss = stream.lost();
        bite(stream, client, faults);
        let harmful = judge::is_harmful(found, expected, &self.logs);
        self.rows.push(DesyncVerdict {
            client,
            request,
            signature: truth.unwrap_or(Signature::Silence),
            fault: loss.filter(|_| harmful).map(|loss| loss.cause),
            lost_at: harmful.then(|| loss.map_or(at, |loss| loss.at)),
            exposed_at: at,
            detected: None,
            harmful,
        });
        let state = self.clients.entry(client).or_default();
        state.undetected.push(row);
    }

    /// A new leg takes the place of the newest one of a stream.
    pub(super) fn supersede(&mut self, client: ClientNo, of: StreamOf) {
        let Some(request) = self.newest(client, of) else {
            return;
        };
        self.sign_without_data(client, request);
        let harmful = self.is_harmful(client, request);
        let Some((stream, leg)) = self.leg(client, request) else {
            return;
        };
        let (data, ended) = (leg.data, leg.ended);
        // A leg that continued its stream and was moved to another life later is torn, but was no desync to miss.
        let pending = leg.resume.as_mut().is_some_and(|resume| {
            let open = !std::mem::replace(&mut resume.accounted, true);
            open && resume.desync.is_some()
        });
        if pending && harmful {
            if data == 0 {
                stream.unnoticed = true;
            } else {
                self.tally.missed += 1;
            }
        }
        if ended {
            self.drop_leg(client, request);
        }
    }

    /// Decides what is still open about the newest leg of a stream.
    pub(super) fn reckon(&mut self, client: ClientNo, of: StreamOf, reckoning: Reckoning) {
        let mut missed = false;
        if let Some(request) = self.newest(client, of) {
            self.sign_without_data(client, request);
            let harmful = self.is_harmful(client, request);
            if let Some((_, leg)) = self.leg(client, request) {
                let excused = reckoning == Reckoning::Forestalled && leg.data == 0;
                if let Some(resume) = &mut leg.resume {
                    let pending = !std::mem::replace(&mut resume.accounted, true);
                    missed = pending && resume.desync.is_some() && harmful && !excused;
                }
            }
        }
        if let Some(stream) = self.stream(client, of) {
            let unnoticed = std::mem::take(&mut stream.unnoticed);
            missed |= unnoticed && reckoning == Reckoning::Missed;
        }
        self.tally.missed += u32::from(missed);
    }

    /// Decides the signature of a leg that brought no data, if it is still open.
    pub(super) fn sign_without_data(&mut self, client: ClientNo, request: RequestNo) {
        let Some((_, leg)) = self.leg(client, request) else {
            return;
        };
        let signature = judge::without_data(leg.primed, leg.ended);
        let row = leg.resume.as_mut().and_then(|resume| {
            let open = !std::mem::replace(&mut resume.signed, true);
            resume.desync.filter(|_| open)
        });
        if let Some(row) = row {
            self.rows[row].signature = signature;
        }
    }

    /// Whether a leg lost or mixed up events as far as is known now. Brings its row up to date.
    pub(super) fn is_harmful(&mut self, client: ClientNo, request: RequestNo) -> bool {
        let Some((_, leg)) = self.leg(client, request) else {
            return false;
        };
        let torn = leg.torn;
        let resume = leg.resume.as_ref();
        let Some((row, expected)) = resume.and_then(|resume| resume.desync.zip(resume.expected)) else {
            return torn;
        };
        // Until the first data event a leg may still be moved, and one that is attached to nothing may turn out to
        // withhold something. What it withholds is lost with the answer that exposed the client.
        let update = (leg.data == 0).then(|| leg.place_of(0));
        let row = &mut self.rows[row];
        if let Some(found) = update {
            row.harmful = judge::is_harmful(found, expected, &self.logs);
            if row.harmful {
                row.lost_at.get_or_insert(row.exposed_at);
            }
        }
        row.harmful || torn
    }
}

/// Counts an eviction by churn or age as a fault, once it is known that the client will not get the event.
pub(super) fn bite(stream: &mut Stream, client: ClientNo, faults: &mut Faults) {
    if let Some(Loss { at, cause }) = stream.evicted
        && matches!(cause, Cause::Churn | Cause::Expired)
        && !std::mem::replace(&mut stream.bitten, true)
    {
        faults.emergent(at, Some(client), cause);
    }
}
