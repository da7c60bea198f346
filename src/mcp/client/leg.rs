//! One leg as the client reads it: the events of one response body, and how it ends.

use http_body_util::BodyExt;
use hyper::body::Incoming;

use crate::mcp::wire::header::RequestTag;
use crate::mcp::wire::sse::{Decoder, Item, Limits};
use crate::observe::event::{Event, LegEnd};
use crate::observe::witness::Witness;
use crate::world::time::SimTime;

/// The longest event that a client reads, in bytes.
const MAX_EVENT_BYTES: usize = 1 << 20;

/// The events of one response body.
pub struct Leg {
    tag: RequestTag,
    body: Incoming,
    decoder: Decoder,
    witness: Witness,
    /// When the bytes came that the decoder is reading.
    arrived: SimTime,
    ended: bool,
}

impl Leg {
    /// The leg that answers the request `tag`.
    pub fn new(tag: RequestTag, body: Incoming, witness: Witness) -> Leg {
        let arrived = witness.now();
        let decoder = Decoder::new(Limits { max_event_bytes: MAX_EVENT_BYTES });
        Leg { tag, body, decoder, witness, arrived, ended: false }
    }

    /// The request that this leg answers.
    pub fn tag(&self) -> RequestTag {
        self.tag
    }

    /// When the last item came: it is read in the instant in which its last byte arrives.
    pub fn arrived(&self) -> SimTime {
        self.arrived
    }

    /// The next item, or how the leg ended. An event that its end cuts short is never seen (WHATWG HTML, 9.2.6).
    pub async fn next(&mut self) -> Result<Item, LegEnd> {
        loop {
            match self.decoder.next() {
                Some(Ok(item)) => return Ok(item),
                Some(Err(_)) => return Err(self.end(LegEnd::Broken)),
                None => {}
            }
            match self.body.frame().await {
                Some(Ok(frame)) => {
                    self.arrived = self.witness.now();
                    if let Some(bytes) = frame.data_ref() {
                        self.decoder.push(bytes);
                    }
                }
                Some(Err(_)) => return Err(self.end(LegEnd::Broken)),
                None => return Err(self.end(LegEnd::Clean)),
            }
        }
    }

    fn end(&mut self, how: LegEnd) -> LegEnd {
        if !self.ended {
            self.ended = true;
            self.witness.report(Event::LegEnded { client: self.tag.client, request: self.tag.request, how });
        }
        how
    }
}

impl Drop for Leg {
    fn drop(&mut self) {
        self.end(LegEnd::Left);
    }
}
