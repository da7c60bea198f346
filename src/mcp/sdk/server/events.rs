//! What outlives the process: the SDK's event store, in memory beside it.
//!
//! The SDK asks it for the id of every event, and answers every resume from it alone. The ids have the form that the
//! SDK's own have, `<index>/<stream>`; here the stream's number is the store's, so that an id is one in the whole store,
//! and the standalone stream has one too.
//!
//! It keeps everything that it is given until the end of the run, as a log outside the process would.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::model::ServerJsonRpcMessage;
use rmcp::transport::streamable_http_server::session::{EventStore, EventStoreError, EventStream, ServerSseMessage};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::mcp::sdk::settings::RmcpEventStore;
use crate::observe::event::{LogNo, Position};

/// The store of one server.
pub(super) struct Events {
    /// Whether a replay goes on with what is stored after it has begun.
    live: bool,
    streams: Mutex<Streams>,
}

/// One process's access to a store: what is left of a process that has stopped can store nothing more.
pub(super) struct Access {
    events: Arc<Events>,
    life: CancellationToken,
}

impl Access {
    /// The access of the process whose life `life` is.
    pub(super) fn new(events: Arc<Events>, life: CancellationToken) -> Access {
        Access { events, life }
    }
}

/// By the SDK's names, and by number.
#[derive(Default)]
struct Streams {
    numbers: BTreeMap<String, usize>,
    kept: Vec<Arc<Kept>>,
}

/// What is kept of one stream.
#[derive(Default)]
struct Kept {
    events: Mutex<Vec<ServerSseMessage>>,
    grown: Notify,
    log: Mutex<Option<Log>>,
}

/// A stream as the oracle knows it.
#[derive(Clone, Copy)]
pub(super) struct Log {
    pub(super) log: LogNo,
    /// What is taken off an index to get a position.
    pub(super) offset: u64,
}

/// Where a cursor stands.
pub(super) struct Found {
    pub(super) log: Option<Log>,
    /// The index of the event that it names.
    pub(super) index: u64,
}

impl Log {
    pub(super) fn position(self, index: u64) -> Position {
        index.saturating_sub(self.offset)
    }
}

impl Events {
    /// A store with nothing in it; none where the settings want none.
    pub(super) fn new(kind: RmcpEventStore) -> Option<Arc<Events>> {
        let live = match kind {
            RmcpEventStore::None => return None,
            RmcpEventStore::Finite => false,
            RmcpEventStore::Live => true,
        };
        Some(Arc::new(Events { live, streams: Mutex::default() }))
    }

    /// The oracle knows the stream to which the event `id` belongs as `log`.
    pub(super) fn name(&self, id: &str, log: Log) {
        if let Some((kept, _)) = self.locate(id) {
            lock(&kept.log).replace(log);
        }
    }

    /// The event that a cursor names, where it is there.
    pub(super) fn find(&self, cursor: &str) -> Option<Found> {
        let (kept, index) = self.locate(cursor)?;
        let log = *lock(&kept.log);
        Some(Found { log, index: index as u64 })
    }

    fn locate(&self, id: &str) -> Option<(Arc<Kept>, usize)> {
        let (index, number) = id.split_once('/')?;
        let (index, number): (usize, usize) = (index.parse().ok()?, number.parse().ok()?);
        let kept = lock(&self.streams).kept.get(number)?.clone();
        let is_there = index < lock(&kept.events).len();
        is_there.then_some((kept, index))
    }
}

impl Kept {
    fn at(&self, index: usize) -> Option<ServerSseMessage> {
        lock(&self.events).get(index).cloned()
    }

    /// The event at `index`, once it is there.
    async fn arrives(&self, index: usize) -> ServerSseMessage {
        loop {
            let grown = self.grown.notified();
            if let Some(event) = self.at(index) {
                return event;
            }
            grown.await;
        }
    }
}

/// Whether nothing comes after an event on its stream.
fn is_last(event: &ServerSseMessage) -> bool {
    matches!(event.message.as_deref(), Some(ServerJsonRpcMessage::Response(_) | ServerJsonRpcMessage::Error(_)))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[async_trait::async_trait]
impl EventStore for Access {
    async fn store_event(&self, stream: &str, event: &ServerSseMessage) -> Result<String, EventStoreError> {
        if self.life.is_cancelled() {
            return Err(io::Error::other("the process has stopped").into());
        }
        let mut streams = lock(&self.events.streams);
        let next = streams.kept.len();
        let number = *streams.numbers.entry(stream.to_owned()).or_insert(next);
        if number == next {
            streams.kept.push(Arc::default());
        }
        let kept = &streams.kept[number];
        let mut events = lock(&kept.events);
        let id = format!("{}/{number}", events.len());
        let mut event = event.clone();
        event.event_id = Some(id.clone());
        events.push(event);
        kept.grown.notify_waiters();
        Ok(id)
    }

    async fn replay_events_after(&self, cursor: &str) -> Result<EventStream, EventStoreError> {
        let Some((kept, index)) = self.events.locate(cursor) else {
            return Err(io::Error::other(format!("no event has the id `{cursor}`")).into());
        };
        if !self.events.live {
            let rest = lock(&kept.events)[index + 1..].to_vec();
            return Ok(Box::pin(futures::stream::iter(rest)));
        }
        let is_over = kept.at(index).is_some_and(|event| is_last(&event));
        Ok(Box::pin(futures::stream::unfold((kept, index + 1, is_over), async |(kept, index, is_over)| {
            if is_over {
                return None;
            }
            let event = kept.arrives(index).await;
            let is_over = is_last(&event);
            Some((event, (kept, index + 1, is_over)))
        })))
    }
}
