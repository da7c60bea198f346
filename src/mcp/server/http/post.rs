//! POST: one JSON-RPC message (2025-11-25, transports, "Sending Messages to the Server").

use std::rc::Rc;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Response, StatusCode};
use http_body::Body;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    Answer, INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND, PARSE_ERROR, Refusal, Reply, accepts, check_revision,
    event_stream, json, rpc_error, session_of, whole,
};
use crate::mcp::server::Server;
use crate::mcp::server::ids::WireId;
use crate::mcp::server::leg::Leg;
use crate::mcp::server::settings::{Delivery, GetPriming, ShortAnswers};
use crate::mcp::server::stream::{self, SharedStream};
use crate::mcp::server::table::SharedSession;
use crate::mcp::server::tools::{Call, NUMBERS};
use crate::mcp::wire::header::{EVENT_STREAM, JSON, RequestTag, SESSION_ID};
use crate::mcp::wire::message::{self, CallArguments, Incoming, NotAMessage, RpcId, TOOL, Unread};
use crate::mcp::wire::sse;
use crate::observe::event::CursorFound;

/// The longest body that is read.
const BODY_BYTES: usize = 1024 * 1024;

/// Answers a POST.
pub async fn answer<B>(server: &Rc<Server>, headers: &HeaderMap, body: B) -> Answer
where
    B: Body<Data = Bytes>,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    if !(accepts(headers, JSON) && accepts(headers, EVENT_STREAM)) {
        return Err(Refusal::new(
            StatusCode::NOT_ACCEPTABLE,
            "expected an Accept header with application/json and text/event-stream",
        ));
    }
    let bytes = read(body).await?;
    let incoming = Incoming::parse(&bytes).map_err(|error| unreadable(&error))?;
    match incoming {
        Incoming::Request { id, method, .. } if method == "initialize" => {
            check_revision(headers)?;
            Ok(initialize(server, headers, &id))
        }
        Incoming::Request { id, method, params } => {
            let (session, tag) = session_of(server, headers)?;
            Ok(match method.as_ref() {
                "ping" => short(server, &session, &json!({"jsonrpc": "2.0", "id": id, "result": {}})),
                "tools/list" => {
                    let tool = &server.tool;
                    let result = message::list_tools_result(&id, tool.idempotent, tool.checkpointable);
                    short(server, &session, &result)
                }
                "tools/call" => call_tool(server, session, tag, id, params),
                _ => rpc_error(&id, METHOD_NOT_FOUND, "there is no such method"),
            })
        }
        Incoming::Notification { method, params } => {
            let (session, _) = session_of(server, headers)?;
            if method == "notifications/cancelled"
                && let Ok(params) = params.read::<Value>()
                && let Ok(request) = RpcId::deserialize(&params["requestId"])
            {
                server.cancel(&session, &request);
            }
            Ok(whole(StatusCode::ACCEPTED, Bytes::new()))
        }
        Incoming::Response { .. } => {
            session_of(server, headers)?;
            Ok(whole(StatusCode::ACCEPTED, Bytes::new()))
        }
    }
}

async fn read<B>(body: B) -> Result<Bytes, Refusal>
where
    B: Body<Data = Bytes>,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    match Limited::new(body, BODY_BYTES).collect().await {
        Ok(body) => Ok(body.to_bytes()),
        Err(error) if error.is::<LengthLimitError>() => {
            Err(Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, "expected a body of at most 1 MiB"))
        }
        Err(_) => Err(Refusal::new(StatusCode::BAD_REQUEST, "the body broke off")),
    }
}

fn unreadable(error: &NotAMessage) -> Refusal {
    let code = match error {
        NotAMessage::Json(error) if !error.is_data() => PARSE_ERROR,
        NotAMessage::Json(_) | NotAMessage::Shapeless => INVALID_REQUEST,
    };
    Refusal::unreadable(code, error.to_string())
}

fn initialize(server: &Rc<Server>, headers: &HeaderMap, id: &RpcId) -> Response<Reply> {
    let tag = RequestTag::of(headers).unwrap_or_else(|| server.base.fleet.stranger(None));
    let session = server.table.borrow_mut().initialize(tag.client);
    server.start_churn(tag.client);
    let result = message::initialize_result(id);
    let mut response = match server.base.settings.get_priming {
        GetPriming::Zero if server.base.settings.short_answers == ShortAnswers::EventStream => {
            let zero = session.borrow().standalone().borrow().numbering().zero();
            short_stream(server, server.base.settings.priming.then_some(zero), None, &result)
        }
        GetPriming::Zero | GetPriming::Counted | GetPriming::None => short(server, &session, &result),
    };
    let key =
        HeaderValue::from_str(&session.borrow().key).expect("keys are drawn as hexadecimal or were read from a header");
    response.headers_mut().insert(SESSION_ID, key);
    response
}

/// The answer to a request that is answered at once.
fn short(server: &Server, session: &SharedSession, answer: &Value) -> Response<Reply> {
    match server.base.settings.short_answers {
        ShortAnswers::Json => json(StatusCode::OK, answer),
        ShortAnswers::EventStream => {
            let (stream, numbering) = session.borrow_mut().take_stream();
            let take = || numbering.take(&server.base.ids, stream);
            let primer = server.base.settings.priming.then(take);
            short_stream(server, primer, Some(take()), answer)
        }
    }
}

/// One answer as an event stream of its own.
fn short_stream(server: &Server, primer: Option<WireId>, id: Option<WireId>, answer: &Value) -> Response<Reply> {
    let ids = &server.base.ids;
    let mut body = Vec::new();
    if let Some(id) = primer {
        body.extend_from_slice(&stream::primer(ids.carried(id).as_deref(), server.base.settings.retry_ms()));
    }
    sse::encode(&mut body, id.and_then(|id| ids.carried(id)).as_deref(), None, &answer.to_string());
    event_stream(Reply::Whole(body.into()))
}

fn call_tool(
    server: &Rc<Server>,
    session: SharedSession,
    tag: RequestTag,
    rpc: RpcId,
    params: Unread<'_>,
) -> Response<Reply> {
    let (arguments, token) = match read_call(&server.tool, params) {
        Ok(read) => read,
        Err(reason) => return rpc_error(&rpc, INVALID_PARAMS, reason),
    };
    if session.borrow().running.contains_key(&rpc) {
        let reason = "expected a request id that no call in flight has";
        return rpc_error(&rpc, INVALID_REQUEST, reason);
    }
    let (stream, response) = match server.base.settings.delivery {
        Delivery::GetStream => {
            let stream = session.borrow().standalone().clone();
            (stream, whole(StatusCode::ACCEPTED, Bytes::new()))
        }
        Delivery::PostStream => {
            let stream = session.borrow_mut().open_stream();
            let leg = first_leg(server, &session, tag, stream.clone());
            (stream, event_stream(Reply::Leg(leg)))
        }
    };
    server.execute(Call { arguments, rpc, token, session, stream });
    response
}

fn first_leg(server: &Server, session: &SharedSession, tag: RequestTag, stream: SharedStream) -> Leg {
    let base = &server.base;
    let (greeting, place) = {
        let mut stream = stream.borrow_mut();
        let greeting = stream.greeting(base.settings.priming, true);
        (greeting, stream.live())
    };
    let activity = session.borrow().activity.clone();
    Leg::attach(base, &activity, tag, stream, place, CursorFound::Absent).greeted(greeting)
}

/// The arguments and the progress token of a `tools/call`.
fn read_call(
    tool: &crate::mcp::server::settings::ToolSettings,
    params: Unread<'_>,
) -> Result<(CallArguments, Option<Value>), &'static str> {
    let params: Value = params.read().map_err(|_| "expected parameters of a reasonable size and depth")?;
    if params["name"] != TOOL {
        return Err("there is no such tool: expected `report`");
    }
    let arguments = CallArguments::deserialize(&params["arguments"])
        .map_err(|_| "expected the arguments client, call and from_part, whole numbers from 0")?;
    if arguments.client >= NUMBERS || arguments.call >= NUMBERS {
        return Err("expected numbers of client and call below 16777216");
    }
    if arguments.from_part > tool.parts.max() {
        return Err("expected a from_part that is not above the number of parts");
    }
    match &params["_meta"]["progressToken"] {
        Value::Null => Ok((arguments, None)),
        token if token.is_string() || token.is_u64() || token.is_i64() => Ok((arguments, Some(token.clone()))),
        _ => Err("expected a progress token that is a text or a whole number"),
    }
}
