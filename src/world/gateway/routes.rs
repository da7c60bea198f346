//! Which server has which session.

use std::collections::BTreeMap;

use http::{HeaderMap, Method, StatusCode};

use crate::mcp::wire::header::SESSION_ID;

/// Sticky routing: a session's requests go to the server that opened it, all others to one server after the other.
///
/// An entry is dropped when its server says that the session is gone, or the client ends it, so there are no more
/// entries than sessions.
#[derive(Debug)]
pub(super) struct Routes {
    servers: usize,
    next: usize,
    by_session: BTreeMap<String, usize>,
}

impl Routes {
    /// Routes to the servers `0..servers`.
    pub(super) fn new(servers: usize) -> Routes {
        Routes { servers, next: 0, by_session: BTreeMap::new() }
    }

    /// The server for a request that carries the session key `session`.
    pub(super) fn choose(&mut self, session: Option<&str>) -> usize {
        if self.servers == 1 {
            return 0;
        }
        let known = session.and_then(|session| self.by_session.get(session));
        known.copied().unwrap_or_else(|| {
            let server = self.next;
            self.next = (server + 1) % self.servers;
            server
        })
    }

    /// Learns from the answer of `server` to a request of `method` with the session key `session`.
    pub(super) fn learn(
        &mut self,
        server: usize,
        method: &Method,
        session: Option<&str>,
        status: StatusCode,
        answer: &HeaderMap,
    ) {
        if self.servers == 1 {
            return;
        }
        let ended = status == StatusCode::NOT_FOUND || (*method == Method::DELETE && status.is_success());
        match session {
            Some(session) if ended => {
                self.by_session.remove(session);
                return;
            }
            Some(session) if status.is_success() => self.place(session, server),
            _ => {}
        }
        if let Some(given) = key(answer) {
            self.place(given, server);
        }
    }

    fn place(&mut self, session: &str, server: usize) {
        if self.by_session.get(session) != Some(&server) {
            self.by_session.insert(session.to_owned(), server);
        }
    }
}

/// The session key among `headers`.
pub(super) fn key(headers: &HeaderMap) -> Option<&str> {
    headers.get(SESSION_ID)?.to_str().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn routes_with_a_on_1() -> Routes {
        let mut routes = Routes::new(2);
        let mut answer = HeaderMap::new();
        answer.insert(SESSION_ID, "a".parse().unwrap());
        routes.learn(1, &Method::POST, None, StatusCode::OK, &answer);
        routes
    }

    #[test]
    fn requests_without_a_known_session_go_to_one_server_after_the_other() {
        let mut routes = Routes::new(3);
        let chosen = [None, Some("x"), None, Some("x")].map(|session| routes.choose(session));
        assert_eq!(chosen, [0, 1, 2, 0]);
    }

    #[test]
    fn a_session_stays_with_the_server_that_gave_its_key() {
        let mut routes = routes_with_a_on_1();
        assert_eq!([Some("a"); 3].map(|session| routes.choose(session)), [1; 3]);
    }

    #[test]
    fn a_session_that_a_server_adopts_stays_there() {
        let mut routes = Routes::new(2);
        routes.learn(1, &Method::GET, Some("x"), StatusCode::OK, &HeaderMap::new());
        assert_eq!([Some("x"); 2].map(|session| routes.choose(session)), [1; 2]);
    }

    #[test]
    fn an_entry_goes_with_its_session() {
        for (method, status, gone) in [
            (Method::DELETE, StatusCode::OK, true),
            (Method::POST, StatusCode::NOT_FOUND, true),
            (Method::DELETE, StatusCode::METHOD_NOT_ALLOWED, false),
            (Method::POST, StatusCode::BAD_REQUEST, false),
        ] {
            let mut routes = routes_with_a_on_1();
            routes.learn(1, &method, Some("a"), status, &HeaderMap::new());
            assert_eq!(routes.by_session.is_empty(), gone, "{method} {status}");
        }
    }
}
