//! The one tool: what a call returns and when, and the task that returns it.

use std::rc::Rc;
use std::time::Duration;

use serde::Serialize;
use serde_json::Value;

use super::Server;
use super::session::Running;
use super::settings::ToolSettings;
use super::stream::{SharedStream, State};
use super::table::SharedSession;
use crate::mcp::wire::message::{self, CallArguments, RpcId};
use crate::observe::event::{CallNo, ClientNo, Event, ExecutionEnd, FrameKind};
use crate::world::draw::{Draws, Purpose};

/// Clients and calls have numbers below this: both together name one random stream.
pub const NUMBERS: u32 = 1 << 24;

/// What one call returns: the same on every server, in every arm, in every execution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The time before each part, and before the response.
    pub intervals: Vec<Duration>,
    /// The check value of each part.
    pub checks: Vec<u32>,
}

/// The plan of `call` of `client`.
///
/// # Panics
/// Where `client` or `call` is not below [`NUMBERS`].
pub fn plan(draws: &Draws, tool: &ToolSettings, client: ClientNo, call: CallNo) -> Plan {
    assert!(client < NUMBERS && call < NUMBERS, "the server refuses calls with larger numbers");
    let entity = (u64::from(client) << 24) | u64::from(call);
    let mut draw = draws.stream(Purpose::ToolResults, entity);
    let parts = draw.within(tool.parts);
    Plan {
        checks: (0..parts).map(|_| draw.bits() as u32).collect(),
        intervals: (0..=parts).map(|_| draw.duration(tool.interval_s)).collect(),
    }
}

/// The text of one part: its check value, and what fills it up to the tool's size.
pub fn part_text(tool: &ToolSettings, check: u32) -> String {
    let mut text = format!("{check:08x}");
    let filling = (tool.part_bytes as usize).saturating_sub(text.len());
    text.extend(std::iter::repeat_n('.', filling));
    text
}

/// One `tools/call` that has been accepted.
pub(super) struct Call {
    /// Its arguments.
    pub arguments: CallArguments,
    /// The id of the caller's request.
    pub rpc: RpcId,
    /// The caller's progress token. Without one, parts are not sent (2025-11-25, utilities, "Progress").
    pub token: Option<Value>,
    /// The session that it runs for.
    pub session: SharedSession,
    /// The stream that gets its output.
    pub stream: SharedStream,
}

/// One execution that runs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Execution {
    client: ClientNo,
    call: CallNo,
    number: u32,
}

impl Server {
    /// Starts to run a call. It runs on while nobody listens and after its session's life.
    pub(super) fn execute(self: &Rc<Server>, call: Call) {
        let CallArguments { client, call: number, from_part } = call.arguments;
        let plan = plan(&self.draws, &self.tool, client, number);
        let from_part = if self.tool.checkpointable { from_part } else { 0 };
        let execution = Execution { client, call: number, number: self.base.fleet.count_execution(client, number) };
        self.base.report(Event::ExecutionStarted {
            client,
            call: number,
            execution: execution.number,
            from_part,
            checks: plan.checks.clone(),
        });
        let (session, rpc, stream) = (call.session.clone(), call.rpc.clone(), call.stream.clone());
        let server = self.clone();
        let task = self.tasks.spawn(|task| async move { server.produce(task, call, plan, from_part).await });
        self.executions.borrow_mut().insert(task, execution);
        let running = Running { task, stream };
        session.borrow_mut().running.insert(rpc, running);
    }

    async fn produce(&self, task: u64, call: Call, plan: Plan, from_part: u32) {
        let CallArguments { client, call: of, .. } = call.arguments;
        let total = plan.checks.len() as u32;
        let mut due = self.base.now();
        let discard = |part| {
            self.base.report(Event::Discarded { client, call: of, part });
        };
        // A part that was asked to be skipped takes no time: the tool continues where its checkpoint lies.
        for (part, interval) in (0..).zip(&plan.intervals).skip(from_part as usize) {
            due = due + *interval;
            tokio::time::sleep(due.since(self.base.now())).await;
            let Some(check) = plan.checks.get(part as usize) else {
                break;
            };
            let Some(token) = &call.token else { continue };
            let text = part_text(&self.tool, *check);
            let data = encode_part(token, part + 1, total, &text);
            if !call.stream.borrow_mut().append(FrameKind::Part, &data, 1) {
                discard(Some(part));
            }
        }
        let data = message::call_tool_result(&call.rpc, total).to_string();
        if !call.stream.borrow_mut().append(FrameKind::Response, &data, 1) {
            discard(None);
        }
        self.end_execution(task, ExecutionEnd::Finished);
        self.leave_session(&call.session, &call.rpc, &call.stream, State::Answered);
    }

    fn leave_session(&self, session: &SharedSession, rpc: &RpcId, stream: &SharedStream, state: State) {
        let mut session = session.borrow_mut();
        session.running.remove(rpc);
        if self.base.settings.in_flight_keeps_alive {
            session.activity.touch(self.base.now());
        }
        if !Rc::ptr_eq(stream, session.standalone()) {
            session.complete(stream, state);
        }
    }

    /// Cancels a call in flight, where there is one with this id.
    pub(super) fn cancel(&self, session: &SharedSession, rpc: &RpcId) {
        let Some(Running { task, stream }) = session.borrow_mut().running.remove(rpc) else {
            return;
        };
        self.tasks.abort(task);
        self.end_execution(task, ExecutionEnd::Cancelled);
        self.leave_session(session, rpc, &stream, State::Cancelled);
    }

    /// Cancels every call in flight of a session.
    pub(super) fn cancel_all(&self, session: &SharedSession) {
        let calls: Vec<RpcId> = session.borrow().running.keys().cloned().collect();
        for rpc in calls {
            self.cancel(session, &rpc);
        }
    }

    /// Reports the end of an execution, once.
    pub(super) fn end_execution(&self, task: u64, how: ExecutionEnd) {
        if let Some(execution) = self.executions.borrow_mut().remove(&task) {
            self.base.report(Event::ExecutionEnded {
                client: execution.client,
                call: execution.call,
                execution: execution.number,
                how,
            });
        }
    }

    /// Kills every execution: the process stops.
    pub(super) fn kill_executions(&self) {
        let running: Vec<u64> = self.executions.borrow().keys().copied().collect();
        for task in running {
            self.end_execution(task, ExecutionEnd::Killed);
        }
    }
}

/// A part as a progress notification: [`message::progress`] without a value tree, and with any token.
fn encode_part(token: &Value, progress: u32, total: u32, text: &str) -> String {
    #[derive(Serialize)]
    struct Notification<'a> {
        jsonrpc: &'static str,
        method: &'static str,
        params: Params<'a>,
    }
    #[derive(Serialize)]
    struct Params<'a> {
        #[serde(rename = "progressToken")]
        token: &'a Value,
        progress: u32,
        total: u32,
        message: &'a str,
    }
    let notification = Notification {
        jsonrpc: "2.0",
        method: "notifications/progress",
        params: Params { token, progress, total, message: text },
    };
    serde_json::to_string(&notification).expect("texts and numbers always have a JSON form")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mcp::wire::message::Progress;
    use crate::world::draw::Span;
    use crate::world::time::Seconds;

    fn tool() -> ToolSettings {
        ToolSettings {
            parts: Span::new(2, 9).expect("a range"),
            interval_s: Span::new(Seconds::new(1), Seconds::new(4)).expect("a range"),
            ..ToolSettings::default()
        }
    }

    #[test]
    fn a_plan_depends_on_seed_client_and_call_alone() {
        let of = |seed, client, call| plan(&Draws::new("plans", seed), &tool(), client, call);
        assert_eq!(of(1, 3, 4), of(1, 3, 4));
        assert_ne!(of(1, 3, 4).checks, of(1, 3, 5).checks);
        assert_ne!(of(1, 3, 4).checks, of(1, 4, 3).checks);
        assert_ne!(of(1, 3, 4).checks, of(2, 3, 4).checks);
        assert_eq!(of(1, NUMBERS - 1, NUMBERS - 1), of(1, NUMBERS - 1, NUMBERS - 1));
    }

    #[test]
    fn a_plan_has_one_interval_more_than_parts() {
        let plan = plan(&Draws::new("plans", 1), &tool(), 0, 0);
        assert_eq!(plan.intervals.len(), plan.checks.len() + 1);
        assert!((2..=9).contains(&plan.checks.len()));
    }

    #[test]
    fn an_encoded_part_is_the_shared_message() {
        let shared =
            message::progress(&Progress { token: "t".into(), progress: 2, total: 3, message: "0000002a..".into() });
        let encoded = encode_part(&Value::from("t"), 2, 3, "0000002a..");
        assert_eq!(serde_json::from_str::<Value>(&encoded).ok(), Some(shared));
    }
}
