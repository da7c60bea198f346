//! One tool call, from its start to what the application is told.

use std::rc::Rc;

use tokio::task::spawn_local;
use tokio::time::timeout;

use super::Client;
use super::leg::Leg;
use super::request::{Answered, Outgoing};
use super::session::LiveSession;
use super::settings::OnSessionLost;
use super::stream::StreamEnd;
use crate::mcp::net::Dial;
use crate::mcp::wire::message::{self, CallArguments, Incoming};
use crate::observe::event::{CallNo, CallReport, DetectedBy, Event, Purpose};

/// How one attempt at a call ends.
enum Attempt {
    /// The response is there.
    Answered,
    /// The session was lost under it.
    SessionLost,
    /// An error that ends the call.
    Failed(String),
}

impl<D: Dial> Client<D> {
    /// Runs call number `call` within the application's timeout and reports its end.
    pub(super) async fn call(self: Rc<Self>, call: CallNo) {
        self.witness.report(Event::CallStarted { client: self.number, call });
        self.state.borrow_mut().in_flight.insert(call, Default::default());
        let result = timeout(self.settings.call_timeout_s.get(), self.drive(call)).await;

        let ended = self.state.borrow_mut().in_flight.remove(&call).expect("only its own task takes a call out");
        let parts = ended.checks.len() as u32;
        let report = match result {
            Ok(Ok(())) => CallReport::Success { checks: ended.checks },
            Ok(Err(reason)) => CallReport::Error { reason },
            Err(_) => CallReport::TimedOut,
        };
        let timed_out = report == CallReport::TimedOut;
        self.witness.report(Event::CallEnded { client: self.number, call, report, parts, restarts: ended.restarts });
        self.finish_restart(Some(call));
        self.changed.notify_waiters();
        if timed_out && let Some((rpc_id, _)) = ended.ids {
            spawn_local(self.cancel(call, rpc_id));
        }
    }

    /// Attempts the call, in one session after the other, until it is answered or fails.
    async fn drive(self: &Rc<Self>, call: CallNo) -> Result<(), String> {
        let mut session = self.live_session().await;
        loop {
            match self.attempt(call, &session).await {
                Attempt::Answered => return self.take_response(call),
                Attempt::Failed(reason) => return Err(reason),
                Attempt::SessionLost => {
                    let may_replay = {
                        let state = self.state.borrow();
                        self.settings.on_session_lost == OnSessionLost::Replay
                            && (state.tool.idempotent || self.settings.replay_non_idempotent)
                    };
                    if !may_replay {
                        return Err("the session was lost while the call was in flight".to_owned());
                    }
                    session = self.live_session().await;
                    self.rewind(call);
                }
            }
        }
    }

    /// Goes back to the last application-level checkpoint: the parts held, or the start where the tool keeps none.
    fn rewind(&self, call: CallNo) {
        let (held, from_part) = {
            let mut state = self.state.borrow_mut();
            let checkpointable = state.tool.checkpointable;
            let in_flight = state.in_flight.get_mut(&call).expect("the call is in flight until its own task ends it");
            let held = in_flight.checks.len() as u32;
            if !checkpointable {
                in_flight.checks.clear();
            }
            in_flight.restarts += 1;
            (held, in_flight.checks.len() as u32)
        };
        self.witness.report(Event::CallReplayed { client: self.number, call, held, from_part });
    }

    /// Sends the call in `session` and waits for its response on whatever stream it comes.
    async fn attempt(self: &Rc<Self>, call: CallNo, session: &LiveSession) -> Attempt {
        let done = self.state.borrow().in_flight[&call].done.clone();
        tokio::select! {
            biased;
            () = done.notified() => Attempt::Answered,
            () = self.session_over(session.generation) => Attempt::SessionLost,
            attempt = self.exchange(call, session) => attempt,
        }
    }

    async fn exchange(self: &Rc<Self>, call: CallNo, session: &LiveSession) -> Attempt {
        let request = self.next_request(call);
        let sent = self.send(Purpose::Call { call }, Some(&session.key), Outgoing::Message(&request)).await;
        self.finish_restart(Some(call));
        let Answered { tag, answer } = match sent {
            Ok(answered) => answered,
            Err(error) => return Attempt::Failed(format!("tools/call: {error}")),
        };
        match answer.status() {
            // The response comes on the session's GET stream.
            202 => std::future::pending().await,
            200 if answer.is_event_stream() => {
                let leg = Leg::new(tag, answer.into_body(), self.witness.clone());
                self.read_response_stream(call, session, leg).await
            }
            200 => match Incoming::parse(&self.http.message(answer).await) {
                Ok(response) => {
                    self.dispatch(response);
                    // If it was the response, `done` has been woken and wins.
                    tokio::task::yield_now().await;
                    Attempt::Failed("tools/call was answered with another message".to_owned())
                }
                Err(error) => Attempt::Failed(format!("tools/call was answered with {error}")),
            },
            404 => {
                self.lose_session(session.generation, tag, DetectedBy::NotFound, "the session is answered 404".into());
                Attempt::SessionLost
            }
            status => Attempt::Failed(format!("tools/call was answered {status}")),
        }
    }

    /// Reads the POST's stream, and what GETs resume of it, until the response has come.
    async fn read_response_stream(self: &Rc<Self>, call: CallNo, session: &LiveSession, leg: Leg) -> Attempt {
        let mut stream = self.logical_stream(Purpose::Resume { call });
        if let Err(StreamEnd::SessionLost) = self.read_leg(&mut stream, leg, false, session.generation).await {
            return Attempt::SessionLost;
        }
        if self.has_response(call) {
            return Attempt::Answered;
        }
        if !self.policy.keeps_cursor() {
            // A client without a cursor has nothing to resume with: whatever it opens is a fresh stream.
            return std::future::pending().await;
        }
        if !self.can_resume(&stream) {
            return Attempt::Failed("the response stream ended before its response and gave no event id".to_owned());
        }
        tokio::time::sleep(self.delay(&stream)).await;
        match self.follow(&mut stream, &session.key, session.generation).await {
            StreamEnd::SessionLost => Attempt::SessionLost,
            StreamEnd::Over(reason) => Attempt::Failed(reason),
        }
    }

    /// The call's next `tools/call`, under a JSON-RPC id and a progress token of its own.
    fn next_request(&self, call: CallNo) -> serde_json::Value {
        let mut state = self.state.borrow_mut();
        let rpc_id = state.take_rpc_id();
        let token = format!("c{}-{call}-{rpc_id}", self.number);
        let in_flight = state.in_flight.get_mut(&call).expect("the call is in flight until its own task ends it");
        let arguments = CallArguments { client: self.number, call, from_part: in_flight.checks.len() as u32 };
        let request = message::call_tool(rpc_id, &token, arguments);
        in_flight.ids = Some((rpc_id, token));
        request
    }

    fn has_response(&self, call: CallNo) -> bool {
        self.state.borrow().in_flight[&call].response.is_some()
    }

    fn take_response(&self, call: CallNo) -> Result<(), String> {
        let mut state = self.state.borrow_mut();
        let response = state.in_flight.get_mut(&call).and_then(|in_flight| in_flight.response.take());
        response.unwrap_or_else(|| Err("the call was woken without a response".to_owned()))
    }

    /// Tells the server that nobody waits any more (2025-11-25, lifecycle, "Timeouts").
    async fn cancel(self: Rc<Self>, call: CallNo, rpc_id: u64) {
        let session = self.live_session().await;
        let cancelled = message::cancelled(rpc_id, "call timeout");
        let sent = self.send(Purpose::Cancel { call }, Some(&session.key), Outgoing::Message(&cancelled)).await;
        if let Ok(Answered { answer, .. }) = sent {
            self.http.message(answer).await;
        }
    }
}
