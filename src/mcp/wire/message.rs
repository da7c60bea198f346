//! JSON-RPC 2.0 messages of revision 2025-11-25, as far as the models speak it.
//!
//! Peers are hostile until parsed: [`Incoming::parse`] takes any bytes and keeps only what a rule needs.

use std::borrow::Cow;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::header::REVISION;

/// The name of the one tool that the server model offers.
pub const TOOL: &str = "report";

/// A JSON-RPC request id: a string or a whole number.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(untagged)]
pub enum RpcId {
    /// A whole number: what the client model uses.
    Number(u64),
    /// A string.
    Text(String),
}

/// The arguments of a call to [`TOOL`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallArguments {
    /// The client.
    pub client: u32,
    /// Its call.
    pub call: u32,
    /// The first part wanted: a checkpointable tool continues there, another starts again from part 0.
    pub from_part: u32,
}

/// A part of a message that was found to be JSON and is not read further until somebody wants it: most messages of a
/// busy session are for nobody.
#[derive(Clone, Copy, Debug)]
pub struct Unread<'a>(Option<&'a RawValue>);

impl<'a> Unread<'a> {
    /// Reads it as a `T`; where it is absent, as null is read.
    ///
    /// # Errors
    /// Where it has another shape.
    pub fn read<T: Deserialize<'a>>(self) -> serde_json::Result<T> {
        serde_json::from_str(self.0.map_or("null", RawValue::get))
    }
}

/// A message as it arrives at either side.
#[derive(Clone, Debug)]
pub enum Incoming<'a> {
    /// A request: it wants a response.
    Request {
        /// Its id.
        id: RpcId,
        /// Its method.
        method: Cow<'a, str>,
        /// Its parameters, null where it has none.
        params: Unread<'a>,
    },
    /// A notification: it wants none.
    Notification {
        /// Its method.
        method: Cow<'a, str>,
        /// Its parameters, null where it has none.
        params: Unread<'a>,
    },
    /// The response to a request.
    Response {
        /// The request's id.
        id: RpcId,
        /// The result, or the error's code and message.
        result: Result<Unread<'a>, RpcError>,
    },
}

/// A JSON-RPC error object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RpcError {
    /// The code.
    pub code: i64,
    /// The message.
    pub message: String,
}

/// Bytes that are no JSON-RPC message.
#[derive(Debug, thiserror::Error)]
pub enum NotAMessage {
    /// The bytes are no JSON, or of another shape.
    #[error("not a JSON-RPC message: {0}")]
    Json(#[from] serde_json::Error),
    /// Neither a method nor a result nor an error.
    #[error("not a JSON-RPC message: it has neither a method nor a result nor an error")]
    Shapeless,
}

#[derive(Deserialize)]
struct Raw<'a> {
    id: Option<RpcId>,
    #[serde(borrow)]
    method: Option<Text<'a>>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    error: Option<RpcError>,
}

/// Text that is borrowed where it has no escapes. Behind an `Option`, serde borrows no bare [`Cow`].
#[derive(Deserialize)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

impl<'a> Incoming<'a> {
    /// Reads one message.
    ///
    /// # Errors
    /// Where `bytes` are no JSON, or no JSON-RPC message.
    pub fn parse(bytes: &'a [u8]) -> Result<Incoming<'a>, NotAMessage> {
        let Raw { id, method, params, result, error } = serde_json::from_slice(bytes)?;
        let params = Unread(params);
        match (id, method, error, result) {
            (Some(id), Some(Text(method)), ..) => Ok(Incoming::Request { id, method, params }),
            (None, Some(Text(method)), ..) => Ok(Incoming::Notification { method, params }),
            (Some(id), None, Some(error), _) => Ok(Incoming::Response { id, result: Err(error) }),
            (Some(id), None, None, Some(result)) => Ok(Incoming::Response { id, result: Ok(Unread(Some(result))) }),
            _ => Err(NotAMessage::Shapeless),
        }
    }
}

/// A `notifications/progress` that carries a part of a tool call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    /// The token that the call chose (2025-11-25, utilities, "Progress").
    #[serde(rename = "progressToken")]
    pub token: String,
    /// Parts sent so far, this one included: increases with every notification.
    #[serde(deserialize_with = "whole")]
    pub progress: u32,
    /// Parts in all; 0 where they are not told.
    #[serde(deserialize_with = "whole", default)]
    pub total: u32,
    /// The part's text: its check value in hexadecimal, then filling.
    pub message: String,
}

/// A whole number, also where it is written as `3.0`: progress may be a fraction (2025-11-25, utilities, "Progress"),
/// and some SDKs keep it as one.
fn whole<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    let number = f64::deserialize(deserializer)?;
    if number.fract() != 0.0 || !(0.0..=f64::from(u32::MAX)).contains(&number) {
        return Err(D::Error::custom("expected a whole number"));
    }
    Ok(number as u32)
}

impl Progress {
    /// The part's check value, where the text starts with one.
    pub fn check(&self) -> Option<u32> {
        check_of(&self.message)
    }
}

/// The check value that a part's text starts with.
pub fn check_of(text: &str) -> Option<u32> {
    u32::from_str_radix(text.get(..8)?, 16).ok()
}

/// `initialize`.
pub fn initialize(id: u64) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "initialize", "params": {
        "protocolVersion": REVISION,
        "capabilities": {},
        "clientInfo": {"name": "desync-sim", "version": env!("CARGO_PKG_VERSION")},
    }})
}

/// The result of `initialize`.
pub fn initialize_result(id: &RpcId) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "result": {
        "protocolVersion": REVISION,
        "capabilities": {"tools": {}, "logging": {}},
        "serverInfo": {"name": "desync-sim", "version": env!("CARGO_PKG_VERSION")},
    }})
}

/// `notifications/initialized`.
pub fn initialized() -> Value {
    json!({"jsonrpc": "2.0", "method": "notifications/initialized"})
}

/// `tools/list`.
pub fn list_tools(id: u64) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/list"})
}

/// The result of `tools/list`: the one tool, with the annotation `idempotentHint` (2025-11-25, server, "Tools") and,
/// under a key of our own in `_meta`, whether a call can continue from a checkpoint.
pub fn list_tools_result(id: &RpcId, idempotent: bool, checkpointable: bool) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "result": {"tools": [{
        "name": TOOL,
        "description": "returns a report in parts",
        "inputSchema": {"type": "object"},
        "annotations": {"idempotentHint": idempotent},
        "_meta": {"desync-sim/checkpointable": checkpointable},
    }]}})
}

/// What `tools/list` says about [`TOOL`]: (idempotent, checkpointable), each false where it says nothing.
pub fn tool_traits(result: &Value) -> (bool, bool) {
    let tool = result["tools"].as_array().and_then(|tools| tools.iter().find(|tool| tool["name"] == TOOL));
    let flag = |value: Option<&Value>| value.and_then(Value::as_bool).unwrap_or(false);
    (
        flag(tool.and_then(|tool| tool.pointer("/annotations/idempotentHint"))),
        flag(tool.and_then(|tool| tool["_meta"].get("desync-sim/checkpointable"))),
    )
}

/// `tools/call` with a progress token.
pub fn call_tool(id: u64, token: &str, arguments: CallArguments) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {
        "name": TOOL, "arguments": arguments, "_meta": {"progressToken": token},
    }})
}

/// The result of `tools/call`.
pub fn call_tool_result(id: &RpcId, parts: u32) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "result": {
        "content": [{"type": "text", "text": format!("{parts} parts")}], "isError": false,
    }})
}

/// `notifications/progress`.
pub fn progress(progress: &Progress) -> Value {
    json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": progress})
}

/// `notifications/message`: a log message that belongs to no call.
pub fn log_message(text: &str) -> Value {
    json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": text}})
}

/// `notifications/cancelled` (2025-11-25, utilities, "Cancellation").
pub fn cancelled(request: u64, reason: &str) -> Value {
    json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": request, "reason": reason}})
}

/// An error response; `id` is null where the request's could not be read.
pub fn error(id: Option<&RpcId>, code: i64, message: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_may_be_written_as_a_float_and_must_be_whole() {
        let read = |progress: &str| {
            let text = format!(r#"{{"progressToken":"t","progress":{progress},"total":9,"message":"0000002a"}}"#);
            serde_json::from_str::<Progress>(&text).ok().map(|progress| progress.progress)
        };
        for (text, count) in
            [("3", Some(3)), ("3.0", Some(3)), ("3.5", None), ("-1", None), ("1e99", None), ("\"3\"", None)]
        {
            assert_eq!(read(text), count, "{text}");
        }
    }

    #[test]
    fn a_part_that_nobody_asks_for_must_be_json_all_the_same() {
        let broken = br#"{"method":"notifications/message","params":{"data":}}"#;
        assert!(matches!(Incoming::parse(broken), Err(NotAMessage::Json(error)) if error.is_syntax()));
    }

    #[test]
    fn absent_parameters_are_read_as_null() {
        let Ok(Incoming::Notification { params, .. }) = Incoming::parse(br#"{"method":"x"}"#) else { panic!() };
        assert_eq!(params.read::<Value>().unwrap(), Value::Null);
        assert!(params.read::<Progress>().is_err());
    }

    #[test]
    fn progress_is_whole_however_it_is_written() {
        let read = |progress: &str| {
            let text = format!(r#"{{"progressToken":"a","progress":{progress},"message":"x"}}"#);
            serde_json::from_str::<Progress>(&text).ok().map(|progress| progress.progress)
        };
        assert_eq!([read("3"), read("3.0"), read("4294967295.0")], [Some(3), Some(3), Some(u32::MAX)]);
        assert_eq!([read("3.5"), read("-1"), read("4294967296"), read("1e99"), read("null")], [None; 5]);
    }

    #[test]
    fn a_method_with_an_escape_is_the_method_without_it() {
        let bytes = br#"{"method":"notifications\/progress","params":{"progressToken":"a","progress":1,"total":2,"message":"\u0062"}}"#;
        let Ok(Incoming::Notification { method, params }) = Incoming::parse(bytes) else { panic!() };
        assert_eq!(method, "notifications/progress");
        assert_eq!(params.read::<Progress>().unwrap().message, "b");
    }

    #[test]
    fn an_error_goes_before_a_result_and_a_result_of_null_is_none() {
        let both = br#"{"id":1,"result":{},"error":{"code":-1,"message":"no"}}"#;
        assert!(matches!(Incoming::parse(both), Ok(Incoming::Response { result: Err(_), .. })));
        let null = br#"{"id":1,"result":null}"#;
        assert!(matches!(Incoming::parse(null), Err(NotAMessage::Shapeless)));
    }
}
