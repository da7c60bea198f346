//! What an error says of a resume.

use rmcp::transport::streamable_http_client::StreamableHttpError;

/// What becomes of a resume that is answered with an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// The server would say the same again, and the SDK would ask for ever.
    ForGood,
    /// The SDK gives the stream up by itself: it fails the call that waits for it, and no other.
    EndsStream,
    /// Another attempt may succeed.
    NotYet,
}

impl Refusal {
    /// What `error` says. `is_refusal` knows the backend's own errors.
    pub(super) fn of<E>(error: &StreamableHttpError<E>, is_refusal: impl Fn(&E) -> bool) -> Refusal
    where
        E: std::error::Error + Send + Sync + 'static,
    {
        match error {
            // The SDK starts a new session for a POST that is answered so, and not for a GET.
            StreamableHttpError::SessionExpired => Refusal::ForGood,
            // The stock backends say it of a GET that is answered 401 or 403 with a challenge that is no text: the
            // transport has no other credentials.
            StreamableHttpError::UnexpectedServerResponse(_) => Refusal::ForGood,
            StreamableHttpError::Client(error) if is_refusal(error) => Refusal::ForGood,
            // `classify_reconnect_error` in the SDK.
            StreamableHttpError::ServerDoesNotSupportSse
            | StreamableHttpError::AuthRequired(_)
            | StreamableHttpError::InsufficientScope(_) => Refusal::EndsStream,
            // Connections that fail, 429 and 5xx, a page of a proxy's, and what no GET is answered with.
            _ => Refusal::NotYet,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use rmcp::model::{ErrorCode, ErrorData};
    use rmcp::transport::streamable_http_client::{
        AuthRequiredError, HttpStatusError, InsufficientScopeError, SseError, StreamableHttpError as Error,
    };

    use super::*;

    type Case = (Error<io::Error>, Refusal);

    /// Every variant of the SDK's error.
    fn cases() -> Vec<Case> {
        let not_found = || io::Error::from(io::ErrorKind::NotFound);
        let json = serde_json::from_str::<u8>("x").unwrap_err();
        let too_large = SseError::Body("SSE event exceeded the maximum size of 8 bytes".into());
        vec![
            (Error::SessionExpired, Refusal::ForGood),
            (Error::UnexpectedServerResponse("invalid www-authenticate header value".into()), Refusal::ForGood),
            (Error::Client(not_found()), Refusal::ForGood),
            (Error::ServerDoesNotSupportSse, Refusal::EndsStream),
            (Error::AuthRequired(AuthRequiredError::new("Bearer".to_owned())), Refusal::EndsStream),
            (Error::InsufficientScope(InsufficientScopeError::new("Bearer".to_owned(), None)), Refusal::EndsStream),
            (Error::Client(io::ErrorKind::ConnectionReset.into()), Refusal::NotYet),
            (Error::Sse(too_large), Refusal::NotYet),
            (Error::Io(not_found()), Refusal::NotYet),
            (Error::HttpStatus(HttpStatusError::new(503, Some("1".to_owned()))), Refusal::NotYet),
            (Error::HttpStatus(HttpStatusError::new(429, None)), Refusal::NotYet),
            (Error::UnexpectedEndOfStream, Refusal::NotYet),
            (Error::ResponseBodyTooLarge { max_size: 8 }, Refusal::NotYet),
            (Error::UnexpectedContentType(Some("text/html".to_owned())), Refusal::NotYet),
            (Error::ServerDoesNotSupportDeleteSession, Refusal::NotYet),
            (Error::Deserialize(json), Refusal::NotYet),
            (Error::TransportChannelClosed, Refusal::NotYet),
            (Error::MissingSessionIdInResponse, Refusal::NotYet),
            (Error::ReservedHeaderConflict("accept".to_owned()), Refusal::NotYet),
            (Error::SessionRecoveryTimeout, Refusal::NotYet),
            (Error::ReinitializationFailed(ErrorData::new(ErrorCode(-1), "no", None)), Refusal::NotYet),
            (Error::ControlRequestTimeout, Refusal::NotYet),
        ]
    }

    #[test]
    fn an_error_refuses_for_good_only_where_the_server_would_say_the_same_again() {
        for (error, expected) in cases() {
            let refusal = Refusal::of(&error, |error| error.kind() == io::ErrorKind::NotFound);
            assert_eq!(refusal, expected, "{error:?}");
        }
    }

    #[tokio::test]
    async fn a_task_that_was_stopped_refuses_nothing() {
        let task = tokio::spawn(std::future::pending::<()>());
        task.abort();
        let error: Error<io::Error> = task.await.unwrap_err().into();
        assert_eq!(Refusal::of(&error, |_| true), Refusal::NotYet);
    }
}
