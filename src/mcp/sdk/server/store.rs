//! What outlives the process: the SDK's session store, in memory beside it.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use rmcp::transport::streamable_http_server::session::{SessionState, SessionStore, SessionStoreError};

/// Every session that was initialized and has not ended.
#[derive(Default)]
pub(super) struct Store {
    sessions: Mutex<BTreeMap<String, SessionState>>,
}

impl Store {
    fn with<T>(&self, what: impl FnOnce(&mut BTreeMap<String, SessionState>) -> T) -> T {
        what(&mut self.sessions.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[async_trait::async_trait]
impl SessionStore for Store {
    async fn load(&self, session: &str) -> Result<Option<SessionState>, SessionStoreError> {
        Ok(self.with(|sessions| sessions.get(session).cloned()))
    }

    async fn store(&self, session: &str, state: &SessionState) -> Result<(), SessionStoreError> {
        self.with(|sessions| sessions.insert(session.to_owned(), state.clone()));
        Ok(())
    }

    async fn delete(&self, session: &str) -> Result<(), SessionStoreError> {
        self.with(|sessions| sessions.remove(session));
        Ok(())
    }
}
