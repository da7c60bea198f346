//! Every resume against the ground truth: coherent or not, noticed or not.

use std::collections::BTreeMap;

mod reckoning;

use super::faults::Faults;
use super::logs::{Logs, Loss};
use super::stream::{Leg, Place, Resume, Stream, StreamId, StreamOf};
use super::wire_id;
use crate::observe::event::{
    CallNo, Cause, ClientNo, DetectedBy, FrameKind, IncarnationNo, LogNo, Position, Purpose, RequestNo,
};
use crate::observe::verdict::{DesyncVerdict, Detection};
use crate::world::time::SimTime;
use reckoning::{Reckoning, bite};

/// The streams and legs that are alive, and what is known of past resumes.
#[derive(Debug, Default)]
pub(super) struct Resumes {
    pub(super) logs: Logs,
    clients: BTreeMap<ClientNo, Client>,
    pub(super) rows: Vec<DesyncVerdict>,
    pub(super) tally: Tally,
}

/// How many.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tally {
    pub(super) resumes: u32,
    pub(super) true_alarms: u32,
    pub(super) false_alarms: u32,
    pub(super) missed: u32,
}

#[derive(Debug, Default)]
struct Client {
    streams: BTreeMap<StreamOf, Stream>,
    legs: BTreeMap<RequestNo, Leg>,
    /// Rows that wait for the client's next decision that its session is lost.
    undetected: Vec<usize>,
}

impl Resumes {
    // ---- what clients report ----

    pub(super) fn request_sent(
        &mut self,
        client: ClientNo,
        request: RequestNo,
        purpose: Purpose,
        cursor: Option<&str>,
        faults: &mut Faults,
    ) {
        if purpose == Purpose::Delete
            && let Some(state) = self.clients.get_mut(&client)
        {
            // A client that ends its session of its own accord has not noticed anything, and will not.
            state.undetected.clear();
        }
        let Some(of) = StreamOf::of(purpose) else {
            return;
        };
        self.supersede(client, of);
        if cursor.is_none() {
            // A fresh stream is what the client asks for: whatever it had is behind it.
            self.reckon(client, of, Reckoning::Missed);
            self.forget_place((client, of), faults);
        }
        let state = self.clients.entry(client).or_default();
        state.streams.entry(of).or_default().newest = Some(request);
        state.legs.insert(request, Leg::new(of, cursor.map(str::to_owned)));
    }

    pub(super) fn answered(
        &mut self,
        at: SimTime,
        client: ClientNo,
        request: RequestNo,
        status: u16,
        faults: &mut Faults,
    ) {
        if status != 200 {
            return self.drop_leg(client, request);
        }
        let Some((stream, leg)) = self.leg(client, request) else {
            return;
        };
        if leg.cursor.is_none() {
            return;
        }
        leg.resume = Some(Resume { expected: stream.expected, desync: None, signed: false, accounted: false });
        self.tally.resumes += 1;
        self.judge(at, client, request, faults);
    }

    pub(super) fn unanswered(&mut self, client: ClientNo, request: RequestNo) {
        self.drop_leg(client, request);
    }

    pub(super) fn frame_received(&mut self, client: ClientNo, request: RequestNo, id: Option<&str>, kind: FrameKind) {
        let Some((_, leg)) = self.leg(client, request) else {
            return;
        };
        if kind == FrameKind::Priming {
            leg.primed = true;
            return;
        }
        if leg.data == 0 {
            self.is_harmful(client, request);
        }
        let Some((stream, leg)) = self.leg(client, request) else {
            return;
        };
        let of = leg.stream;
        let place = leg.receive();
        stream.unnoticed = false;
        let signature = match (&leg.cursor, &mut leg.resume) {
            (Some(cursor), Some(resume)) if !resume.signed => {
                resume.signed = true;
                resume.desync.zip(Some(wire_id::compare(cursor, id)))
            }
            _ => None,
        };
        if let Some((row, signature)) = signature {
            self.rows[row].signature = signature;
        }
        if let Some(place) = place {
            self.expect((client, of), place.log, |stream, logs| {
                let next = Place { position: place.position.saturating_add(1), ..place };
                if stream.expected.is_none_or(|expected| expected.log != next.log) {
                    stream.closed = None;
                    stream.evicted = None;
                } else if logs.get(next.log).is_none_or(|log| log.oldest <= next.position) {
                    stream.evicted = None;
                }
                stream.bitten = false;
                stream.expected = Some(next);
            });
        }
    }

    pub(super) fn leg_ended(&mut self, client: ClientNo, request: RequestNo) {
        let Some((stream, leg)) = self.leg(client, request) else {
            return;
        };
        leg.ended = true;
        let superseded = stream.newest != Some(request);
        self.sign_without_data(client, request);
        if superseded {
            self.drop_leg(client, request);
        }
    }

    pub(super) fn session_lost(&mut self, at: SimTime, client: ClientNo, request: RequestNo, by: DetectedBy) {
        if by.is_rule() {
            let harmful = self.is_harmful(client, request);
            if let Some((stream, leg)) = self.leg(client, request) {
                stream.unnoticed = false;
                leg.torn = false;
                if let Some(resume) = &mut leg.resume {
                    resume.accounted = true;
                }
            }
            if harmful {
                self.tally.true_alarms += 1;
            } else {
                self.tally.false_alarms += 1;
            }
        }
        let Some(state) = self.clients.get_mut(&client) else {
            return;
        };
        for row in std::mem::take(&mut state.undetected) {
            self.rows[row].detected = Some(Detection { at, by });
        }
        let streams: Vec<StreamOf> = state.streams.keys().copied().collect();
        let reckoning = if by.is_rule() { Reckoning::Forestalled } else { Reckoning::Missed };
        for of in streams {
            self.reckon(client, of, reckoning);
        }
    }

    /// The stream of a call that has ended is over for the client.
    pub(super) fn call_ended(&mut self, client: ClientNo, call: CallNo, faults: &mut Faults) {
        let of = StreamOf::Call(call);
        self.reckon(client, of, Reckoning::Missed);
        self.forget_place((client, of), faults);
        if let Some(state) = self.clients.get_mut(&client) {
            state.streams.remove(&of);
            state.legs.retain(|_, leg| leg.stream != of);
        }
    }

    // ---- what servers report ----

    pub(super) fn session_closed(&mut self, at: SimTime, incarnation: IncarnationNo, cause: Cause) -> Option<ClientNo> {
        let (owner, logs) = self.logs.session_closed(incarnation)?;
        for log in logs {
            self.note_closed(&log.followers, Loss { at, cause });
        }
        Some(owner)
    }

    pub(super) fn log_closed(&mut self, at: SimTime, log: LogNo, cause: Cause) {
        if let Some(log) = self.logs.closed(log) {
            self.note_closed(&log.followers, Loss { at, cause });
        }
    }

    fn note_closed(&mut self, followers: &[StreamId], loss: Loss) {
        for (client, of) in followers {
            if let Some(stream) = self.stream(*client, *of) {
                stream.closed.get_or_insert(loss);
            }
        }
    }

    pub(super) fn appended(&mut self, log: LogNo, last: Position) {
        if let Some(log) = self.logs.get_mut(log) {
            log.head = log.head.max(last.saturating_add(1));
        }
    }

    pub(super) fn evicted(&mut self, at: SimTime, log: LogNo, through: Position, cause: Cause) {
        let Some(log) = self.logs.get_mut(log) else {
            return;
        };
        log.oldest = log.oldest.max(through.saturating_add(1));
        for (client, of) in &log.followers {
            let stream = self.clients.get_mut(client).and_then(|state| state.streams.get_mut(of));
            if let Some(stream) = stream
                && stream.expected.is_some_and(|expected| expected.position <= through)
            {
                stream.evicted.get_or_insert(Loss { at, cause });
            }
        }
    }

    pub(super) fn attached(&mut self, client: ClientNo, request: RequestNo, log: Option<LogNo>, next: Position) {
        let place = log.map(|log| self.place(log, next));
        let Some((_, leg)) = self.leg(client, request) else {
            return;
        };
        leg.attach(0, place);
        let (of, fresh) = (leg.stream, leg.cursor.is_none());
        if fresh && let Some(place) = place {
            // Not a resume, so no desync; but an alarm about another tenant's events is a true one.
            leg.torn = place.identity.is_some_and(|identity| identity.is_foreign(client, of, None));
            self.expect((client, of), place.log, |stream, _| {
                stream.expected = Some(place);
            });
        }
    }

    pub(super) fn rebased(
        &mut self,
        at: SimTime,
        (client, request): (ClientNo, RequestNo),
        sent: u64,
        (log, next): (LogNo, Position),
        faults: &mut Faults,
    ) {
        let place = self.place(log, next);
        let Some((_, leg)) = self.leg(client, request) else {
            return;
        };
        let natural = leg.place_of(sent);
        leg.attach(sent, Some(place));
        if sent == 0 && leg.cursor.is_some() {
            // Nothing had been sent: what the resume continues with is decided only now.
            self.judge(at, client, request, faults);
        } else {
            leg.torn |= natural.is_some_and(|natural| natural.log != place.log || natural.position < place.position);
        }
    }

    // ---- the end ----

    pub(super) fn finish(&mut self, faults: &mut Faults) {
        let streams: Vec<StreamId> =
            self.clients.iter().flat_map(|(client, state)| state.streams.keys().map(|of| (*client, *of))).collect();
        for (client, of) in streams {
            self.reckon(client, of, Reckoning::Missed);
            // An event that is gone from the buffer may be on its way to a client that still listens.
            let listening = self
                .newest(client, of)
                .is_some_and(|request| self.leg(client, request).is_some_and(|(_, leg)| !leg.ended));
            if !listening && let Some(stream) = self.stream(client, of) {
                bite(stream, client, faults);
            }
        }
    }

    // ---- steps ----

    /// Lets go of a client's place in a stream.
    fn forget_place(&mut self, id: StreamId, faults: &mut Faults) {
        let Some(stream) = self.stream(id.0, id.1) else {
            return;
        };
        bite(stream, id.0, faults);
        let place = std::mem::take(stream).expected;
        if let Some(place) = place {
            self.logs.unfollow(place.log, id);
        }
    }

    /// Moves a stream's expectation to `log`.
    fn expect(&mut self, id: StreamId, log: LogNo, change: impl FnOnce(&mut Stream, &Logs)) {
        let stream = self.clients.get_mut(&id.0).and_then(|state| state.streams.get_mut(&id.1));
        let Some(stream) = stream else {
            return;
        };
        let before = stream.expected.map(|place| place.log);
        change(stream, &self.logs);
        if before != Some(log) {
            if let Some(before) = before {
                self.logs.unfollow(before, id);
            }
            self.logs.follow(log, id);
        }
    }

    fn place(&self, log: LogNo, position: Position) -> Place {
        Place { log, position, identity: self.logs.get(log).map(|log| log.identity) }
    }

    fn stream(&mut self, client: ClientNo, of: StreamOf) -> Option<&mut Stream> {
        self.clients.get_mut(&client)?.streams.get_mut(&of)
    }

    fn newest(&self, client: ClientNo, of: StreamOf) -> Option<RequestNo> {
        self.clients.get(&client)?.streams.get(&of)?.newest
    }

    fn leg(&mut self, client: ClientNo, request: RequestNo) -> Option<(&mut Stream, &mut Leg)> {
        let state = self.clients.get_mut(&client)?;
        let leg = state.legs.get_mut(&request)?;
        let stream = state.streams.get_mut(&leg.stream)?;
        Some((stream, leg))
    }

    fn drop_leg(&mut self, client: ClientNo, request: RequestNo) {
        let Some(state) = self.clients.get_mut(&client) else {
            return;
        };
        if let Some(leg) = state.legs.remove(&request)
            && let Some(stream) = state.streams.get_mut(&leg.stream)
            && stream.newest == Some(request)
        {
            stream.newest = None;
        }
    }
}
