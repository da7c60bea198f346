//! How a presented cursor is judged, from the ids alone: no server of the field knows more.

use std::rc::Rc;

use super::base::Base;
use super::session::Session;
use super::settings::CounterScope;
use super::stream::{Place, SharedStream};
use crate::cursor::Grammar;
use crate::observe::event::CursorFound;
use bytes::Bytes;

/// What a server makes of a cursor.
pub enum Judged {
    /// It is found: this stream goes on at this place, after these bytes.
    Known(SharedStream, Place, Option<Bytes>),
    /// It is not, but is the very next id that this stream's counter will give.
    Next(SharedStream),
    /// It is not; the stream that the setting's answer applies to.
    Lost(CursorFound, SharedStream),
}

impl Judged {
    /// How the cursor was found, where it is one of `stream`.
    pub fn of(&self, stream: &SharedStream) -> Option<CursorFound> {
        let (found, of) = match self {
            Judged::Known(of, ..) => (CursorFound::Known, of),
            Judged::Next(of) => (CursorFound::Ahead, of),
            Judged::Lost(CursorFound::Unknown, _) => return None,
            Judged::Lost(found, of) => (*found, of),
        };
        Rc::ptr_eq(of, stream).then_some(found)
    }
}

/// Judges `cursor` in `session`: by its exact id in every log, newest stream first, else by its number.
pub fn judge(base: &Base, session: &Session, cursor: &str) -> Judged {
    let standalone = session.standalone();
    let Some(id) = base.ids.parse(cursor).filter(|_| base.settings.store) else {
        return Judged::Lost(CursorFound::Unknown, standalone.clone());
    };
    for stream in session.newest_first() {
        if let Some(place) = stream.borrow().find(id) {
            let primer = stream.borrow().replayed_primer(id);
            return Judged::Known(stream.clone(), place, primer);
        }
    }
    let by_number = |stream: &SharedStream| {
        let of = stream.borrow();
        let current = id.epoch == of.numbering().epoch();
        if current && of.numbering().is_next(id.number) {
            return Judged::Next(stream.clone());
        }
        let found = match current && of.numbering().is_ahead(id.number) {
            true => CursorFound::Ahead,
            false => CursorFound::Purged,
        };
        Judged::Lost(found, stream.clone())
    };
    let named: Option<SharedStream> = match base.ids.grammar() {
        Grammar::Integer => Some(standalone.clone()),
        Grammar::EpochSeq => match base.settings.counter_scope {
            // All streams count together: the answer goes to the standalone one.
            CounterScope::Session | CounterScope::Process => {
                Some(standalone).filter(|stream| stream.borrow().has_epoch(id.epoch)).cloned()
            }
            CounterScope::Stream => session.newest_first().find(|stream| stream.borrow().has_epoch(id.epoch)).cloned(),
        },
        Grammar::StreamSeq | Grammar::SeqStream => {
            session.newest_first().find(|stream| stream.borrow().number() == id.stream).cloned()
        }
        Grammar::Opaque => None,
    };
    match named {
        Some(stream) => by_number(&stream),
        None => Judged::Lost(CursorFound::Unknown, standalone.clone()),
    }
}
