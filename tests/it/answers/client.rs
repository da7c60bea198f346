//! A client that does what a script says: bytes over a connection of its own for each request.

use std::collections::BTreeMap;
use std::time::Duration;

use bytes::Bytes;
use desync_sim::mcp::net::Dial;
use desync_sim::mcp::wire::header::{ENDPOINT, EVENT_STREAM, JSON, LAST_EVENT_ID, PROTOCOL_VERSION, REQUEST_ID};
use desync_sim::mcp::wire::header::{REVISION, SESSION_ID};
use desync_sim::mcp::wire::message::{self, CallArguments};
use http::{Request, header};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::time::{sleep, timeout};

use super::case::{Answer, Ask, Case, Step, Then};

/// The client and what it has.
pub struct Client<D> {
    dial: D,
    requests: u32,
    calls: u32,
    keys: BTreeMap<String, String>,
    legs: BTreeMap<String, Leg>,
    /// Of what events carried, the id of the last event that carried it.
    seen: BTreeMap<String, String>,
}

/// A body that is being read. Dropping it closes its connection.
struct Leg {
    status: u16,
    body: Incoming,
    unread: String,
    end: Option<Then>,
}

impl<D: Dial> Client<D> {
    /// A client that connects with `dial`.
    pub fn new(dial: D) -> Client<D> {
        Client { dial, requests: 0, calls: 0, keys: BTreeMap::new(), legs: BTreeMap::new(), seen: BTreeMap::new() }
    }

    /// Does what `case` says in a session `a`, and returns what was watched of the answers.
    pub async fn play(mut self, case: &Case) -> Result<Vec<Answer>, String> {
        let mut answers = Vec::new();
        if !matches!(case.script.first(), Some(Step::Initialize(_))) {
            self.initialize("a").await?;
        }
        for step in &case.script {
            answers.extend(self.take(step).await.map_err(|error| format!("{step:?}: {error}"))?);
        }
        Ok(answers)
    }

    async fn take(&mut self, step: &Step) -> Result<Option<Answer>, String> {
        let (ask, leg) = match step {
            Step::Wait { s } => {
                sleep(Duration::from_secs_f64(*s)).await;
                return Ok(None);
            }
            Step::Cut { leg } => {
                self.legs.remove(leg).ok_or("there is no such leg")?;
                return Ok(None);
            }
            Step::Watch { leg, .. } => {
                let leg = self.legs.get_mut(leg).ok_or("there is no such leg")?;
                return Ok(Some(leg.watch(4.0).await));
            }
            Step::Initialize(ask) => (ask, self.initialize(&ask.session).await?),
            Step::ListTools(ask) => (ask, self.post(ask, &message::list_tools(900)).await?),
            Step::Call(ask) => {
                let call = self.calls;
                self.calls += 1;
                let arguments = CallArguments { client: 0, call, from_part: 0 };
                let token = format!("call-{call}");
                (ask, self.post(ask, &message::call_tool(u64::from(call), &token, arguments)).await?)
            }
            Step::Get(ask) => (ask, self.send(ask, "GET", None).await?),
            Step::Delete(ask) => (ask, self.send(ask, "DELETE", None).await?),
        };
        self.attend(ask, leg).await
    }

    async fn attend(&mut self, ask: &Ask, mut leg: Leg) -> Result<Option<Answer>, String> {
        let mut answer = None;
        if let Some(events) = ask.events {
            for _ in 0..events {
                let event = leg.event().await.ok_or("the leg ended before")?;
                self.see(&event);
            }
        } else if ask.expect.is_some() || ask.tell {
            let watched = leg.watch(ask.watch_s).await;
            watched.events.iter().for_each(|event| self.see(event));
            answer = Some(watched);
        }
        if let Some(name) = &ask.leg {
            self.legs.insert(name.clone(), leg);
        }
        Ok(answer)
    }

    fn see(&mut self, event: &str) {
        if let Some((id, carried)) = event.split_once(' ') {
            self.seen.insert(carried.to_owned(), id.to_owned());
        }
    }

    async fn initialize(&mut self, session: &str) -> Result<Leg, String> {
        let request = self.request("POST").header(header::CONTENT_TYPE, JSON);
        let (leg, key) = self.exchange(request, message::initialize(800).to_string().into()).await?;
        let key = key.ok_or("no session key came")?;
        self.keys.insert(session.to_owned(), key.clone());
        let request = self.request("POST").header(header::CONTENT_TYPE, JSON);
        let request = request.header(SESSION_ID, key).header(PROTOCOL_VERSION, REVISION);
        let (initialized, _) = self.exchange(request, message::initialized().to_string().into()).await?;
        match initialized.status {
            202 => Ok(leg),
            status => Err(format!("`initialized` was answered {status}")),
        }
    }

    async fn post(&mut self, ask: &Ask, message: &Value) -> Result<Leg, String> {
        self.send(ask, "POST", Some(message)).await
    }

    async fn send(&mut self, ask: &Ask, method: &str, message: Option<&Value>) -> Result<Leg, String> {
        let mut request = self.request(method).header(PROTOCOL_VERSION, REVISION);
        let key = ask.key.as_ref().or_else(|| self.keys.get(&ask.session)).ok_or("there is no such session")?;
        if !key.is_empty() {
            request = request.header(SESSION_ID, key);
        }
        let seen =
            ask.after.as_ref().map(|carried| self.seen.get(carried).ok_or(format!("no event carried {carried}")));
        if let Some(cursor) = ask.cursor.as_ref().or(seen.transpose()?) {
            request = request.header(LAST_EVENT_ID, cursor);
        }
        if message.is_some() {
            request = request.header(header::CONTENT_TYPE, JSON);
        }
        let body = message.map(Value::to_string).unwrap_or_default();
        Ok(self.exchange(request, body.into()).await?.0)
    }

    fn request(&mut self, method: &str) -> http::request::Builder {
        let number = self.requests;
        self.requests += 1;
        Request::builder()
            .method(method)
            .uri(ENDPOINT)
            .header(header::HOST, "mcp")
            .header(REQUEST_ID, format!("c0-r{number}"))
            .header(header::ACCEPT, format!("{JSON}, {EVENT_STREAM}"))
    }

    /// The answer's body, and the session key that came with it.
    async fn exchange(
        &mut self,
        request: http::request::Builder,
        body: Bytes,
    ) -> Result<(Leg, Option<String>), String> {
        let request = request.body(Full::new(body)).map_err(|error| error.to_string())?;
        let io = TokioIo::new(self.dial.dial().await.map_err(|error| error.to_string())?);
        let (mut sender, connection) =
            hyper::client::conn::http1::handshake(io).await.map_err(|error| error.to_string())?;
        tokio::task::spawn_local(connection);
        let response = sender.send_request(request).await.map_err(|error| error.to_string())?;
        let (head, body) = response.into_parts();
        let key = head.headers.get(SESSION_ID).and_then(|key| key.to_str().ok()).map(str::to_owned);
        Ok((Leg { status: head.status.as_u16(), body, unread: String::new(), end: None }, key))
    }
}

impl Leg {
    /// What comes within `s` seconds.
    async fn watch(&mut self, s: f64) -> Answer {
        let mut events = Vec::new();
        let is_stream = self.status == 200;
        let _ = timeout(Duration::from_secs_f64(s), async {
            while let Some(event) = self.event().await {
                events.push(event);
            }
        })
        .await;
        if !is_stream {
            // The text of a refusal is the application's.
            events.clear();
        }
        Answer { status: self.status, events, then: self.end.unwrap_or(Then::Open) }
    }

    /// The next event, told; none where the body ends.
    async fn event(&mut self) -> Option<String> {
        loop {
            if let Some((block, rest)) = self.unread.split_once("\n\n") {
                let told = tell(block);
                self.unread = rest.to_owned();
                return Some(told);
            }
            match self.body.frame().await {
                Some(Ok(frame)) => {
                    let data = frame.into_data().unwrap_or_default();
                    self.unread.push_str(&String::from_utf8_lossy(&data));
                }
                Some(Err(_)) => self.end = Some(Then::Broken),
                None => _ = self.end.get_or_insert(Then::Closed),
            }
            if self.end.is_some() {
                return None;
            }
        }
    }
}

/// One block of an event stream, told as in the file of cases.
fn tell(block: &str) -> String {
    let field = |name: &str| {
        let mut lines = block.lines().filter_map(|line| line.split_once(':'));
        lines.find(|(field, _)| *field == name).map(|(_, value)| value.trim_start().to_owned())
    };
    let id = field("id").unwrap_or_else(|| "-".to_owned());
    let retry = field("retry").map(|retry| format!(" retry {retry}")).unwrap_or_default();
    match field("data").as_deref() {
        None if retry.is_empty() => ":".to_owned(),
        None => format!("{id}{retry}"),
        Some("") => format!("{id} ∅{retry}"),
        Some(data) => format!("{id} {}{retry}", carried(data)),
    }
}

fn carried(data: &str) -> String {
    let Ok(message) = serde_json::from_str::<Value>(data) else {
        return format!("garbage `{data}`");
    };
    match (message["method"].as_str(), &message["error"]["code"]) {
        (Some("notifications/progress"), _) => format!("p{}", message["params"]["progress"].as_f64().unwrap_or(-1.0)),
        (Some(_), _) if message["id"].is_null() => "n".to_owned(),
        (Some(method), _) => format!("request {method}"),
        (None, Value::Null) => "R".to_owned(),
        (None, code) => format!("error {code}"),
    }
}
