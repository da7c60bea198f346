//! The session table: which keys are alive, whose they are, and which keys wait to be used again.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use super::base::Base;
use super::session::Session;
use super::settings::UnknownSession;
use crate::observe::event::{Cause, ClientNo, Origin};
use crate::world::draw::{Draws, Purpose, Stream};

/// A session that the table, its running calls and the request at hand share.
pub type SharedSession = Rc<RefCell<Session>>;

/// The session table of one server. It outlives the process where a fault says so.
pub struct Table {
    base: Rc<Base>,
    sessions: BTreeMap<Rc<str>, SharedSession>,
    /// The keys of each client's live sessions, newest last.
    owned: BTreeMap<ClientNo, Vec<Rc<str>>>,
    /// Keys of sessions that were torn down, for the next session of a client other than their former owner.
    free: Vec<(Rc<str>, ClientNo)>,
    keys: Stream,
}

impl Table {
    /// An empty table.
    pub fn new(base: &Rc<Base>, draws: &Draws) -> Table {
        Table {
            base: base.clone(),
            sessions: BTreeMap::new(),
            owned: BTreeMap::new(),
            free: Vec::new(),
            keys: draws.stream(Purpose::SessionKeys, u64::from(base.number)),
        }
    }

    /// The session with this key.
    pub fn get(&self, key: &str) -> Option<SharedSession> {
        self.sessions.get(key).cloned()
    }

    /// The live session that `client` opened last.
    pub fn newest_of(&self, client: ClientNo) -> Option<SharedSession> {
        self.get(self.owned.get(&client)?.last()?)
    }

    /// Every session, in the order of keys.
    pub fn sessions(&self) -> impl Iterator<Item = &SharedSession> {
        self.sessions.values()
    }

    /// Opens a session for `initialize`: under a free key of another client where one waits, else under a new one.
    pub fn initialize(&mut self, owner: ClientNo) -> SharedSession {
        let session = self.open_new(owner);
        if self.base.settings.unknown_session == UnknownSession::Restore {
            self.base.fleet.remember(&session.borrow().key);
        }
        session
    }

    fn open_new(&mut self, owner: ClientNo) -> SharedSession {
        let free = self.free.iter().position(|(key, former)| *former != owner && !self.sessions.contains_key(key));
        match free {
            Some(index) => {
                let (key, _) = self.free.remove(index);
                self.open(key, owner, Origin::KeyReused)
            }
            None => {
                let key = format!("{:016x}{:016x}", self.keys.bits(), self.keys.bits());
                self.open(key.into(), owner, Origin::Initialized)
            }
        }
    }

    /// Opens a session under `key`, which must not be in the table.
    pub fn open(&mut self, key: Rc<str>, owner: ClientNo, origin: Origin) -> SharedSession {
        let session = Session::open(&self.base, key.clone(), owner, origin);
        let session = Rc::new(RefCell::new(session));
        self.sessions.insert(key.clone(), session.clone());
        self.owned.entry(owner).or_default().push(key);
        session
    }

    /// Ends the session with this key; none where there is none.
    pub fn close(&mut self, key: &str, cause: Cause) -> Option<SharedSession> {
        let session = self.sessions.remove(key)?;
        let owner = session.borrow().owner;
        if let Some(keys) = self.owned.get_mut(&owner) {
            keys.retain(|owned| &**owned != key);
            if keys.is_empty() {
                self.owned.remove(&owner);
            }
        }
        session.borrow_mut().close(cause);
        Some(session)
    }

    /// Ends every session, and forgets the free keys.
    pub fn close_all(&mut self, cause: Cause) {
        self.owned.clear();
        self.free.clear();
        for session in std::mem::take(&mut self.sessions).into_values() {
            session.borrow_mut().close(cause);
        }
    }

    /// Ends every session that has been idle for its idle time.
    pub fn reap(&mut self) {
        let now = self.base.now();
        let idle: Vec<_> = self
            .sessions
            .values()
            .map(|session| session.borrow())
            .filter(|session| session.is_idle(now))
            .map(|session| session.key.clone())
            .collect();
        for key in idle {
            self.close(&key, Cause::SessionIdle);
        }
    }

    /// Gives a key away: to the next session of a client other than `former`.
    pub fn give_away(&mut self, key: Rc<str>, former: ClientNo) {
        self.free.push((key, former));
    }
}
