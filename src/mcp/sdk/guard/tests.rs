//! The guard over a scripted backend, asked as the SDK's transport asks it.

use std::collections::VecDeque;
use std::time::Duration;

use rmcp::model::ServerJsonRpcMessage;
use serde_json::json;
use tokio::time::Instant;

use super::*;

/// What the server answers: in the order of the requests.
enum Answer {
    /// These events, then the end.
    Ends(Vec<Sse>),
    /// These events, then nothing.
    StaysOpen(Vec<Sse>),
    /// 202, to a POST.
    Accepts,
    /// 200, and then the connection breaks.
    Breaks,
    /// A refusal.
    Refuses(StreamableHttpError<std::io::Error>),
}

#[derive(Clone, Default)]
struct Server {
    script: Arc<Mutex<VecDeque<Answer>>>,
    asked: Arc<Mutex<u32>>,
}

impl Server {
    fn answer(&self) -> Got<Server> {
        *self.asked.lock().unwrap() += 1;
        match self.script.lock().unwrap().pop_front().expect("a request beyond the script") {
            Answer::Ends(events) => Ok(futures::stream::iter(events.into_iter().map(Ok)).boxed()),
            Answer::StaysOpen(events) => {
                Ok(futures::stream::iter(events.into_iter().map(Ok)).chain(futures::stream::pending()).boxed())
            }
            Answer::Breaks => Ok(futures::stream::iter([Err(SseError::Body("broken".into()))]).boxed()),
            Answer::Accepts => panic!("a stream that is accepted"),
            Answer::Refuses(error) => Err(error),
        }
    }
}

impl StreamableHttpClient for Server {
    type Error = std::io::Error;

    async fn post_message(
        &self,
        _: Arc<str>,
        _: ClientJsonRpcMessage,
        _: Option<Arc<str>>,
        _: Option<String>,
        _: CustomHeaders,
    ) -> Posted<Server> {
        if self.script.lock().unwrap().pop_front_if(|answer| matches!(answer, Answer::Accepts)).is_some() {
            return Ok(StreamableHttpPostResponse::Accepted);
        }
        self.answer().map(|events| StreamableHttpPostResponse::Sse(events, None))
    }

    async fn delete_session(
        &self,
        _: Arc<str>,
        _: Arc<str>,
        _: Option<String>,
        _: CustomHeaders,
    ) -> Result<(), StreamableHttpError<std::io::Error>> {
        Ok(())
    }

    async fn get_stream(
        &self,
        _: Arc<str>,
        _: Option<Arc<str>>,
        _: Option<String>,
        _: Option<String>,
        _: CustomHeaders,
    ) -> Got<Server> {
        self.answer()
    }
}

struct Rig {
    guard: Guard<Server>,
    server: Server,
    findings: Arc<Mutex<Vec<Finding>>>,
}

impl Rig {
    fn new(rules: Rules, script: impl IntoIterator<Item = Answer>) -> Rig {
        let server = Server { script: Arc::new(Mutex::new(script.into_iter().collect())), ..Server::default() };
        let findings = Arc::new(Mutex::new(Vec::new()));
        let seen = findings.clone();
        let guard = Guard::new(server.clone(), Grammar::Integer, rules)
            .observed(move |finding| seen.lock().unwrap().push(finding.clone()));
        Rig { guard, server, findings }
    }

    async fn post(&self, id: i64) -> Got<Server> {
        stream_of(self.posted(id).await)
    }

    async fn send(&self, message: serde_json::Value) -> Got<Server> {
        stream_of(self.sent(message).await)
    }

    async fn posted(&self, id: i64) -> Posted<Server> {
        self.sent(json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": { "name": "t" } })).await
    }

    async fn sent(&self, message: serde_json::Value) -> Posted<Server> {
        let message = serde_json::from_value(message).unwrap();
        let limits = StreamableHttpResponseLimits::default();
        let (uri, session) = ("http://server/mcp".into(), Some("s".into()));
        self.guard.post_message_with_response_limits(uri, message, session, None, CustomHeaders::new(), limits).await
    }

    async fn get(&self, cursor: Option<&str>) -> Got<Server> {
        let (uri, session) = ("http://server/mcp".into(), Some("s".into()));
        let cursor = cursor.map(str::to_owned);
        self.guard.get_stream_with_max_sse_event_size(uri, session, cursor, None, CustomHeaders::new(), 1024).await
    }

    fn signatures(&self) -> Vec<&'static str> {
        self.findings.lock().unwrap().iter().map(|finding| finding.cause.signature()).collect()
    }

    fn asked(&self) -> u32 {
        *self.server.asked.lock().unwrap()
    }
}

fn stream_of(posted: Posted<Server>) -> Got<Server> {
    match posted? {
        StreamableHttpPostResponse::Sse(events, _) => Ok(events),
        other => panic!("{other:?}"),
    }
}

fn part(id: &str) -> Sse {
    Sse::default().id(id).data(r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{}}"#)
}

fn response(id: &str, request: i64) -> Sse {
    Sse::default().id(id).data(json!({ "jsonrpc": "2.0", "id": request, "result": {} }).to_string())
}

async fn read(events: Got<Server>) -> Vec<Sse> {
    events.unwrap().map(Result::unwrap).collect().await
}

/// The ids of events that bring something.
fn ids(events: &[Sse]) -> Vec<&str> {
    events.iter().filter(|event| event.data.is_some()).map(|event| event.id.as_deref().unwrap_or("-")).collect()
}

/// The error response that `event` is.
fn lost(event: &Sse) -> (RequestId, rmcp::model::ErrorData) {
    match serde_json::from_str(event.data.as_deref().unwrap()).unwrap() {
        ServerJsonRpcMessage::Error(error) => (error.id.unwrap(), error.error),
        other => panic!("{other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn a_resume_that_continues_the_stream_passes_unchanged() {
    let rig = Rig::new(
        Rules::default(),
        [Answer::Ends(vec![part("8411"), part("8412")]), Answer::StaysOpen(vec![part("8413"), response("8414", 1)])],
    );
    assert_eq!(ids(&read(rig.post(1).await).await), ["8411", "8412"]);
    let resumed: Vec<_> = rig.get(Some("8412")).await.unwrap().take(2).map(Result::unwrap).collect().await;
    assert_eq!(resumed, [part("8413"), response("8414", 1)]);
    assert!(rig.signatures().is_empty());
}

#[tokio::test(start_paused = true)]
async fn the_event_that_does_not_continue_the_stream_becomes_the_error_of_its_call() {
    let rig =
        Rig::new(Rules::default(), [Answer::Ends(vec![part("8412")]), Answer::StaysOpen(vec![part("17"), part("18")])]);
    read(rig.post(7).await).await;
    let resumed = read(rig.get(Some("8412")).await).await;
    assert_eq!(resumed.len(), 1, "the leg ends with the error");
    assert_eq!(resumed[0].id, None, "the cursor of the SDK stays");
    let (request, error) = lost(&resumed[0]);
    assert_eq!((request, error.code.0), (RequestId::Number(7), LOST));
    assert!(error.message.contains("8413 was expected, but the server answered with 17"), "{}", error.message);
    let data = json!({ "signature": "regression", "cursor": "8412", "expected": "8413", "got": "17" });
    assert_eq!(error.data, Some(data));
    assert_eq!(rig.signatures(), ["regression"]);
}

#[tokio::test(start_paused = true)]
async fn the_event_of_the_cursor_is_dropped_where_that_is_tolerated() {
    let rules = Rules { tolerate_inclusive: true, ..Rules::default() };
    let rig =
        Rig::new(rules, [Answer::Ends(vec![part("8412")]), Answer::Ends(vec![part("8412"), response("8413", 1)])]);
    read(rig.post(1).await).await;
    assert_eq!(ids(&read(rig.get(Some("8412")).await).await), ["8413"]);
    assert!(rig.signatures().is_empty());
}

#[tokio::test(start_paused = true)]
async fn one_empty_leg_too_many_ends_the_call() {
    let rules = Rules { empty_legs: Some(1), ..Rules::default() };
    let rig = Rig::new(rules, [Answer::Ends(vec![part("5")]), Answer::Ends(vec![]), Answer::Ends(vec![])]);
    read(rig.post(1).await).await;
    assert!(read(rig.get(Some("5")).await).await.is_empty());
    let last = read(rig.get(Some("5")).await).await;
    assert_eq!(lost(&last[0]).1.code.0, LOST);
    assert_eq!(rig.signatures(), ["empty-leg"]);
}

#[tokio::test(start_paused = true)]
async fn silence_ends_the_call_when_the_grace_is_over() {
    let rules = Rules { grace_s: Some(20.0), ..Rules::default() };
    let rig = Rig::new(rules, [Answer::Ends(vec![part("5")]), Answer::StaysOpen(vec![])]);
    read(rig.post(1).await).await;
    let start = Instant::now();
    let resumed = read(rig.get(Some("5")).await).await;
    assert_eq!(lost(&resumed[0]).1.code.0, LOST);
    assert_eq!(start.elapsed().as_secs(), 20);
    assert_eq!(rig.signatures(), ["silence"]);
}

#[tokio::test(start_paused = true)]
async fn a_leg_that_has_brought_data_may_be_silent() {
    let rules = Rules { grace_s: Some(20.0), ..Rules::default() };
    let rig = Rig::new(rules, [Answer::Ends(vec![part("5")]), Answer::StaysOpen(vec![part("6")])]);
    read(rig.post(1).await).await;
    let mut leg = rig.get(Some("5")).await.unwrap();
    assert_eq!(leg.next().await.unwrap().unwrap(), part("6"));
    assert!(tokio::time::timeout(Duration::from_secs(3600), leg.next()).await.is_err());
    assert!(rig.signatures().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_refused_resume_ends_the_call_and_a_failed_one_does_not() {
    let failure = StreamableHttpError::Client(std::io::Error::other("no connection"));
    let rig = Rig::new(
        Rules::default(),
        [Answer::Ends(vec![part("5")]), Answer::Refuses(failure), Answer::Refuses(StreamableHttpError::SessionExpired)],
    );
    read(rig.post(1).await).await;
    assert!(matches!(rig.get(Some("5")).await, Err(StreamableHttpError::Client(_))));
    assert!(rig.signatures().is_empty());
    assert_eq!(lost(&read(rig.get(Some("5")).await).await[0]).0, RequestId::Number(1));
    assert_eq!(rig.signatures(), ["refused"]);
}

/// The SDK fails the call by itself: an event that is too long ends so in backends that are not the SDK's own.
#[tokio::test(start_paused = true)]
async fn an_error_at_which_the_sdk_gives_the_stream_up_is_passed_on() {
    let rig = Rig::new(
        Rules::default(),
        [Answer::Ends(vec![part("5")]), Answer::Refuses(StreamableHttpError::ServerDoesNotSupportSse)],
    );
    read(rig.post(1).await).await;
    assert!(matches!(rig.get(Some("5")).await, Err(StreamableHttpError::ServerDoesNotSupportSse)));
    assert!(rig.signatures().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_leg_that_breaks_is_not_an_empty_one() {
    let rules = Rules { empty_legs: Some(0), ..Rules::default() };
    let rig = Rig::new(rules, [Answer::Ends(vec![part("5")]), Answer::Breaks, Answer::Ends(vec![])]);
    read(rig.post(1).await).await;
    let broken: Vec<_> = rig.get(Some("5")).await.unwrap().collect().await;
    assert!(matches!(broken[..], [Err(_)]), "the SDK sees the error alone");
    assert!(rig.signatures().is_empty());
    assert_eq!(lost(&read(rig.get(Some("5")).await).await[0]).1.code.0, LOST);
}

/// `sims/rmcp-outage.toml`, seed 0, client 4: three outages of a session in which nothing was going on.
#[tokio::test(start_paused = true)]
async fn a_quiet_standalone_stream_is_not_lost() {
    let rules = Rules { empty_legs: Some(0), grace_s: Some(20.0), ..Rules::default() };
    let rig = Rig::new(rules, [Answer::Ends(vec![part("5")]), Answer::Ends(vec![]), Answer::StaysOpen(vec![])]);
    read(rig.get(None).await).await;
    assert!(read(rig.get(Some("5")).await).await.is_empty());
    let mut leg = rig.get(Some("5")).await.unwrap();
    assert!(tokio::time::timeout(Duration::from_secs(3600), leg.next()).await.is_err());
    assert!(rig.signatures().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_call_that_was_answered_202_is_lost_with_the_standalone_stream() {
    let rig = Rig::new(
        Rules::default(),
        [
            Answer::Ends(vec![part("8412")]),
            Answer::Accepts,
            Answer::StaysOpen(vec![part("1")]),
            Answer::Ends(vec![part("17"), part("18")]),
        ],
    );
    read(rig.get(None).await).await;
    assert!(matches!(rig.posted(1).await, Ok(StreamableHttpPostResponse::Accepted)));
    let _other = rig.post(2).await;
    let resumed = read(rig.get(Some("8412")).await).await;
    assert_eq!(lost(&resumed[0]).0, RequestId::Number(1));
    assert_eq!(resumed[1..], [part("17"), part("18")], "the other call is left alone, and the stream goes on");
    assert_eq!(rig.signatures(), ["regression"]);
}

#[tokio::test(start_paused = true)]
async fn a_strict_guard_fails_every_call_with_the_standalone_stream() {
    let rig = Rig::new(
        Rules::default(),
        [
            Answer::Ends(vec![part("8412")]),
            Answer::StaysOpen(vec![part("1")]),
            Answer::Ends(vec![part("17"), part("18")]),
        ],
    );
    let guard = rig.guard.clone().strict();
    let rig = Rig { guard, ..rig };
    read(rig.get(None).await).await;
    let _other = rig.post(2).await;
    let resumed = read(rig.get(Some("8412")).await).await;
    assert_eq!(lost(&resumed[0]).0, RequestId::Number(2));
    assert_eq!(resumed.len(), 3);
}

#[tokio::test(start_paused = true)]
async fn silence_of_the_standalone_stream_counts_from_the_call_that_depends_on_it() {
    let rules = Rules { grace_s: Some(20.0), ..Rules::default() };
    let rig = Rig::new(rules, [Answer::Ends(vec![part("5")]), Answer::StaysOpen(vec![]), Answer::Accepts]);
    read(rig.get(None).await).await;
    let start = Instant::now();
    let mut leg = rig.get(Some("5")).await.unwrap();
    assert!(tokio::time::timeout(Duration::from_secs(30), leg.next()).await.is_err());
    rig.posted(1).await.unwrap();
    let event = leg.next().await.unwrap().unwrap();
    assert_eq!((lost(&event).0, start.elapsed().as_secs()), (RequestId::Number(1), 50));
}

#[tokio::test(start_paused = true)]
async fn a_call_that_has_its_response_on_the_standalone_stream_is_over() {
    let rules = Rules { empty_legs: Some(0), ..Rules::default() };
    let rig = Rig::new(rules, [Answer::Accepts, Answer::Ends(vec![response("5", 1)]), Answer::Ends(vec![])]);
    rig.posted(1).await.unwrap();
    assert_eq!(ids(&read(rig.get(None).await).await), ["5"]);
    assert!(read(rig.get(Some("5")).await).await.is_empty());
    assert!(rig.signatures().is_empty());
}

#[tokio::test(start_paused = true)]
async fn the_backend_may_say_which_of_its_errors_refuse() {
    let failure = StreamableHttpError::Client(std::io::ErrorKind::NotFound.into());
    let rig = Rig::new(Rules::default(), [Answer::Ends(vec![part("5")]), Answer::Refuses(failure)]);
    let guard = rig.guard.clone().refused_where(|error| error.kind() == std::io::ErrorKind::NotFound);
    let rig = Rig { guard, ..rig };
    read(rig.post(1).await).await;
    assert_eq!(lost(&read(rig.get(Some("5")).await).await[0]).1.code.0, LOST);
}

#[tokio::test(start_paused = true)]
async fn the_next_request_in_a_suspect_session_finds_it_expired_until_there_is_another() {
    let rig = Rig::new(
        Rules::default(),
        [
            Answer::Ends(vec![part("8412")]),
            Answer::Ends(vec![part("17")]),
            Answer::Ends(vec![response("0", 0)]),
            Answer::Ends(vec![response("1", 3)]),
        ],
    );
    read(rig.post(1).await).await;
    read(rig.get(Some("8412")).await).await;
    assert!(matches!(rig.post(2).await, Err(StreamableHttpError::SessionExpired)));
    assert!(matches!(rig.post(2).await, Err(StreamableHttpError::SessionExpired)));
    assert_eq!(rig.asked(), 2, "the server is not asked");

    let params = json!({
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "c", "version": "1" }
    });
    let open = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params });
    assert_eq!(ids(&read(rig.send(open).await).await), ["0"]);
    assert_eq!(ids(&read(rig.post(3).await).await), ["1"]);
}

#[tokio::test(start_paused = true)]
async fn a_suspect_session_is_kept_while_another_call_is_in_flight_in_it() {
    let rig = Rig::new(
        Rules::default(),
        [
            Answer::StaysOpen(vec![part("1"), response("2", 9)]),
            Answer::Ends(vec![part("8412")]),
            Answer::Ends(vec![part("17")]),
            Answer::Ends(vec![response("1", 2)]),
        ],
    );
    let mut other = rig.post(9).await.unwrap();
    assert_eq!(other.next().await.unwrap().unwrap(), part("1"));
    read(rig.post(1).await).await;
    read(rig.get(Some("8412")).await).await;
    assert_eq!(rig.signatures(), ["regression"]);

    assert_eq!(ids(&read(rig.post(2).await).await), ["1"], "it is sent");
    assert_eq!(other.next().await.unwrap().unwrap(), response("2", 9));
    assert!(matches!(rig.post(3).await, Err(StreamableHttpError::SessionExpired)));
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_cancelled_or_left_is_not_in_flight() {
    let rig = Rig::new(
        Rules::default(),
        [
            Answer::StaysOpen(vec![]),
            Answer::Ends(vec![part("3")]),
            Answer::Ends(vec![]),
            Answer::Ends(vec![part("8412")]),
            Answer::Ends(vec![part("17")]),
        ],
    );
    drop(rig.post(8).await.unwrap());
    read(rig.post(9).await).await;
    let cancelled = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 9 } });
    read(rig.send(cancelled).await).await;
    read(rig.post(1).await).await;
    read(rig.get(Some("8412")).await).await;
    assert!(matches!(rig.post(2).await, Err(StreamableHttpError::SessionExpired)));
}

#[tokio::test(start_paused = true)]
async fn the_standalone_stream_goes_on_from_what_came() {
    let rig = Rig::new(
        Rules::default(),
        [
            Answer::Ends(vec![part("8412")]),
            Answer::Ends(vec![part("17"), part("18")]),
            Answer::Ends(vec![part("19")]),
            Answer::Ends(vec![part("25")]),
        ],
    );
    read(rig.get(None).await).await;
    assert_eq!(ids(&read(rig.get(Some("8412")).await).await), ["17", "18"]);
    assert_eq!(ids(&read(rig.get(Some("18")).await).await), ["19"]);
    assert_eq!(rig.signatures(), ["regression"]);
    assert_eq!(ids(&read(rig.get(Some("19")).await).await), ["25"]);
    assert_eq!(rig.signatures(), ["regression", "gap"]);
}

#[tokio::test(start_paused = true)]
async fn of_streams_with_the_same_last_id_the_one_whose_leg_ended_first_is_resumed() {
    let rig = Rig::new(
        Rules::default(),
        [
            Answer::Ends(vec![part("7")]),
            Answer::Ends(vec![part("7")]),
            Answer::Ends(vec![part("1")]),
            Answer::Ends(vec![part("2")]),
        ],
    );
    let late = rig.post(1).await;
    read(rig.post(2).await).await;
    read(late).await;
    assert_eq!(lost(&read(rig.get(Some("7")).await).await[0]).0, RequestId::Number(2));
    assert_eq!(lost(&read(rig.get(Some("7")).await).await[0]).0, RequestId::Number(1));
}
