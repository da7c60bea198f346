//! One client connection: its requests go to a server, the responses come back.

use std::cell::RefCell;
use std::error::Error;
use std::io;
use std::rc::Rc;

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderMap};
use http::{HeaderValue, Request, Response, StatusCode, Version};
use http_body_util::{BodyExt, Either, Full, LengthLimitError, Limited};
use hyper::body::Incoming;
use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use tokio::time::timeout;

use super::Gateway;
use super::body::GatewayBody;
use super::headers::strip_hop_by_hop;
use super::outages::CutOff;
use super::routes::key;
use crate::mcp::net::Dial;
use crate::mcp::wire::header::{EVENT_STREAM, RequestTag};

/// The largest request body that is forwarded, in bytes.
const MAX_REQUEST_BYTES: usize = 4 << 20;

/// A body for the client: from a server, or the gateway's own.
pub(super) type ClientBody = Either<GatewayBody<Incoming>, Full<Bytes>>;

/// A connection from a client, with the connection to a server that is kept behind it.
pub(super) struct Downstream<D> {
    gateway: Rc<Gateway<D>>,
    upstream: RefCell<Option<Upstream>>,
}

/// A connection to a server.
struct Upstream {
    server: usize,
    sender: SendRequest<Full<Bytes>>,
}

/// Why a request gets no answer from a server. The text is the body of the gateway's own answer.
#[derive(Debug, thiserror::Error)]
enum NoAnswer {
    #[error("the request body is larger than {MAX_REQUEST_BYTES} bytes")]
    TooLarge,
    #[error("the request body is incomplete")]
    Incomplete,
    #[error("cannot connect to the server: {0}")]
    Unreachable(io::Error),
    #[error("the server did not accept a connection in time")]
    ConnectTimeout,
    #[error("the server did not begin to answer within the idle timeout")]
    AnswerTimeout,
    #[error("the connection to the server failed: {0}")]
    Broken(#[from] hyper::Error),
}

impl<D: Dial> Downstream<D> {
    /// A connection that was just accepted.
    pub(super) fn new(gateway: Rc<Gateway<D>>) -> Downstream<D> {
        Downstream { gateway, upstream: RefCell::new(None) }
    }

    /// The response to `request`: a server's, or 413, 400, 502 or 504 with a line of text.
    ///
    /// # Errors
    /// Where the client is cut off before the response begins.
    pub(super) async fn forward(&self, request: Request<Incoming>) -> Result<Response<ClientBody>, CutOff> {
        let client = RequestTag::of(request.headers()).map(|tag| tag.client);
        let cut_off = async {
            match client {
                Some(client) => self.gateway.outages.cut_off(client).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            cut_off = cut_off => Err(cut_off),
            answer = self.ask(request) => Ok(answer.unwrap_or_else(NoAnswer::into_response)),
        }
    }

    async fn ask(&self, request: Request<Incoming>) -> Result<Response<ClientBody>, NoAnswer> {
        let tag = RequestTag::of(request.headers());
        let request = buffered(request).await?;
        let method = request.method().clone();
        let session = key(request.headers()).map(str::to_owned);
        let server = (self.gateway.routes.borrow_mut()).choose(session.as_deref());

        let answer = self.send(server, request).await?;

        let (mut head, body) = answer.into_parts();
        self.gateway.routes.borrow_mut().learn(server, &method, session.as_deref(), head.status, &head.headers);
        strip_hop_by_hop(&mut head.headers);
        let leg = tag.filter(|_| is_event_stream(&head.headers)).map(|tag| self.gateway.legs.open(tag));
        let body = GatewayBody::new(body, leg, &self.gateway.settings);
        Ok(Response::from_parts(head, Either::Left(body)))
    }

    /// Sends `request` on the connection that is kept, or on a new one where there is none to `server`. A request
    /// that never left because the kept connection was closing goes out once more on a new one.
    async fn send(&self, server: usize, request: Request<Full<Bytes>>) -> Result<Response<Incoming>, NoAnswer> {
        // Taken, not borrowed: where the client leaves meanwhile, the connection to the server goes with it.
        let kept = self
            .upstream
            .take()
            .filter(|upstream| upstream.server == server && !upstream.sender.is_closed() && upstream.sender.is_ready());
        let request = match kept {
            None => request,
            Some(upstream) => match self.attempt(upstream, request).await? {
                Sent::Answered(answer) => return Ok(answer),
                Sent::Unsent(request, _) => request,
            },
        };
        let upstream = self.connect(server).await?;
        match self.attempt(upstream, request).await? {
            Sent::Answered(answer) => Ok(answer),
            Sent::Unsent(_, error) => Err(error.into()),
        }
    }

    async fn attempt(&self, mut upstream: Upstream, request: Request<Full<Bytes>>) -> Result<Sent, NoAnswer> {
        let answer = upstream.sender.try_send_request(request);
        let answer = match self.gateway.settings.idle_timeout_s {
            None => answer.await,
            Some(idle) => timeout(idle.get(), answer).await.map_err(|_| NoAnswer::AnswerTimeout)?,
        };
        match answer {
            Ok(answer) => {
                self.upstream.replace(Some(upstream));
                Ok(Sent::Answered(answer))
            }
            Err(mut failed) => match failed.take_message() {
                Some(request) => Ok(Sent::Unsent(request, failed.into_error())),
                None => Err(failed.into_error().into()),
            },
        }
    }

    async fn connect(&self, server: usize) -> Result<Upstream, NoAnswer> {
        let patience = self.gateway.settings.connect_timeout_s.get();
        let io = timeout(patience, self.gateway.servers[server].dial())
            .await
            .map_err(|_| NoAnswer::ConnectTimeout)?
            .map_err(NoAnswer::Unreachable)?;
        let (sender, connection) = http1::handshake(TokioIo::new(io)).await?;
        tokio::task::spawn_local(async move {
            // Its error reaches whoever waits for the answer or reads the body.
            let _ended = connection.await;
        });
        Ok(Upstream { server, sender })
    }
}

/// What became of a request on a connection.
enum Sent {
    Answered(Response<Incoming>),
    /// It did not leave, for this reason.
    Unsent(Request<Full<Bytes>>, hyper::Error),
}

impl NoAnswer {
    fn into_response(self) -> Response<ClientBody> {
        let status = match self {
            NoAnswer::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            NoAnswer::Incomplete => StatusCode::BAD_REQUEST,
            NoAnswer::Unreachable(_) | NoAnswer::Broken(_) => StatusCode::BAD_GATEWAY,
            NoAnswer::ConnectTimeout | NoAnswer::AnswerTimeout => StatusCode::GATEWAY_TIMEOUT,
        };
        let text = Full::from(format!("{self}\n"));
        let mut response = Response::new(Either::Right(text));
        *response.status_mut() = status;
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain"));
        response
    }
}

/// `request` as it goes to the server: with its body in memory and without what ends at the gateway.
async fn buffered(request: Request<Incoming>) -> Result<Request<Full<Bytes>>, NoAnswer> {
    let (mut head, body) = request.into_parts();
    strip_hop_by_hop(&mut head.headers);
    head.version = Version::HTTP_11;
    let body = Limited::new(body, MAX_REQUEST_BYTES)
        .collect()
        .await
        .map_err(
            |error: Box<dyn Error + Send + Sync>| {
                if error.is::<LengthLimitError>() { NoAnswer::TooLarge } else { NoAnswer::Incomplete }
            },
        )?
        .to_bytes();
    Ok(Request::from_parts(head, Full::new(body)))
}

fn is_event_stream(headers: &HeaderMap) -> bool {
    headers
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .and_then(|value| value.split(';').next())
        .is_some_and(|media_type| media_type.trim().eq_ignore_ascii_case(EVENT_STREAM))
}
