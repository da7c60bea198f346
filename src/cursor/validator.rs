//! The state of one logical stream over its legs.

use std::time::Duration;

use super::judge::{Relation, successor};
use super::{Desync, Grammar, NotApplicable, Rules};

/// What to do with an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Hand it to the application.
    Deliver,
    /// Drop it: the application has it already ([`Rules::tolerate_inclusive`]).
    Duplicate,
    /// Nothing to hand over: an event without data, sent for its id.
    Primer,
}

/// Keeps the cursor of one logical stream and judges its resumes.
///
/// Two ids are kept. The *cursor* is the last id seen, whatever carried it, as the SSE standard says: it is what the
/// next request presents. The *reference* is the last id that stands for something consumed: it is what the first
/// data event of a resumed leg is judged against.
///
/// They part over *priming events*, which have an id and no data (2025-11-25, transports, "Sending Messages to the
/// Server", item 6). A primer moves the cursor and is never judged; some servers send a new one with each answer. Nor
/// does it launder: it moves the reference only if it is its successor. Otherwise a server that lost the stream
/// could prime 8412 with a fresh 17, send 18, and look coherent.
///
/// An event with data but without an id says nothing of continuity: it is delivered, and the next one with an id is
/// judged. An empty id clears the cursor (WHATWG HTML, server-sent events), so that the next leg starts fresh.
///
/// After a [`Desync`] the state is as before the event, so the same event is refused again: the caller ends the
/// session, and calls [`Validator::reset`].
#[derive(Clone, Debug)]
pub struct Validator {
    grammar: Grammar,
    rules: Rules,
    /// The last id seen, empty where there is none.
    cursor: String,
    /// The last id consumed, empty where there is none.
    reference: String,
    leg: Leg,
    empty_legs: u32,
    note: Option<NotApplicable>,
    not_applicable: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Leg {
    /// It presented a cursor.
    resumed: bool,
    /// The first data event with an id is still to come, and will be judged.
    unjudged: bool,
    /// Data was delivered.
    data: bool,
    /// Data was delivered, or the reference moved.
    progress: bool,
}

impl Validator {
    /// A stream that has no cursor yet.
    pub fn new(grammar: Grammar, rules: Rules) -> Validator {
        Validator {
            grammar,
            rules,
            cursor: String::new(),
            reference: String::new(),
            leg: Leg::default(),
            empty_legs: 0,
            note: None,
            not_applicable: 0,
        }
    }

    /// What to send as `Last-Event-ID`: none where the header is to be left out.
    pub fn cursor(&self) -> Option<&str> {
        present(&self.cursor)
    }

    /// What the first data event of a resumed leg is judged against: differs from the cursor after a priming event
    /// that proved nothing.
    pub fn reference(&self) -> Option<&str> {
        present(&self.reference)
    }

    /// A leg was answered with 200. `resumed`: its request presented [`Validator::cursor`]. One that did not asks for
    /// a fresh stream, and the cursor of the old one is forgotten.
    pub fn begin_leg(&mut self, resumed: bool) {
        let resumed = resumed && !self.cursor.is_empty();
        if !resumed {
            self.forget();
        }
        self.leg = Leg { resumed, unjudged: resumed, ..Leg::default() };
    }

    /// An event came. `id`: the id of its own block, none where the block has no id field. `has_data`: its data is
    /// not empty.
    ///
    /// # Errors
    /// The desync that the event exposes. Nothing of it is kept.
    pub fn on_event(&mut self, id: Option<&str>, has_data: bool) -> Result<Step, Desync> {
        if !has_data {
            if let Some(id) = id {
                self.prime(id);
            }
            return Ok(Step::Primer);
        }
        match id {
            None => {}
            Some("") => self.clear(),
            Some(id) => {
                if self.judge(id)? == Step::Duplicate {
                    keep(&mut self.cursor, id);
                    return Ok(Step::Duplicate);
                }
                self.leg.unjudged = false;
                keep(&mut self.cursor, id);
                keep(&mut self.reference, id);
            }
        }
        self.leg.data = true;
        self.leg.progress = true;
        self.empty_legs = 0;
        Ok(Step::Deliver)
    }

    /// The leg ended, by whichever side.
    ///
    /// # Errors
    /// [`Desync::EmptyLegs`], where the leg is one empty leg too many.
    pub fn end_leg(&mut self) -> Result<(), Desync> {
        let leg = std::mem::take(&mut self.leg);
        if !leg.resumed {
            return Ok(());
        }
        if leg.progress {
            self.empty_legs = 0;
            return Ok(());
        }
        self.empty_legs = self.empty_legs.saturating_add(1);
        match self.rules.empty_legs {
            Some(limit) if self.empty_legs > limit => {
                Err(Desync::EmptyLegs { cursor: self.reference.clone(), legs: self.empty_legs, limit })
            }
            _ => Ok(()),
        }
    }

    /// How long this leg may stay without data, counted from its start: some while the rule is on and a resumed leg
    /// has brought none yet. The caller keeps the time, and asks [`Validator::silent`] for the error.
    pub fn grace(&self) -> Option<Duration> {
        if self.leg.resumed && !self.leg.data { self.rules.grace() } else { None }
    }

    /// The desync of a leg that outlasted [`Validator::grace`] without data.
    pub fn silent(&self) -> Desync {
        Desync::Silence { cursor: self.reference.clone(), grace: self.rules.grace().unwrap_or_default() }
    }

    /// The reason why ids could not be compared: once in the validator's life, after the first time.
    pub fn take_note(&mut self) -> Option<NotApplicable> {
        self.note.take()
    }

    /// How many resumes could not be judged because their ids cannot be compared.
    pub fn not_applicable_count(&self) -> u64 {
        self.not_applicable
    }

    /// A new session: the stream starts anew. Buffers and counts stay.
    pub fn reset(&mut self) {
        self.forget();
        self.leg = Leg::default();
    }

    /// The rules, in order, on a data event with an id. `Primer` is never the answer.
    fn judge(&mut self, id: &str) -> Result<Step, Desync> {
        let judging = self.rules.continuity || self.rules.foreign || self.rules.tolerate_inclusive;
        if !self.leg.unjudged || !judging {
            return Ok(Step::Deliver);
        }
        match Relation::of(self.grammar, &self.reference, id) {
            Relation::Incomparable(NotApplicable::AnotherStream) if self.rules.foreign => Err(Desync::Foreign {
                cursor: self.reference.clone(),
                expected: successor(self.grammar, &self.reference),
                got: id.to_owned(),
            }),
            Relation::Incomparable(reason) => {
                if self.not_applicable == 0 {
                    self.note = Some(reason);
                }
                self.not_applicable += 1;
                Ok(Step::Deliver)
            }
            Relation::Same if self.rules.tolerate_inclusive => Ok(Step::Duplicate),
            relation if self.rules.continuity => match relation.desync(self.grammar, &self.reference, id) {
                Some(desync) => Err(desync),
                None => Ok(Step::Deliver),
            },
            _ => Ok(Step::Deliver),
        }
    }

    /// An id without data.
    fn prime(&mut self, id: &str) {
        if id.is_empty() {
            return self.clear();
        }
        keep(&mut self.cursor, id);
        let proves =
            self.reference.is_empty() || Relation::of(self.grammar, &self.reference, id) == Relation::Successor;
        if proves {
            keep(&mut self.reference, id);
            self.leg.progress = true;
        }
    }

    /// An empty id. The reference outlives it while a judgement is due: the leg did present a cursor.
    fn clear(&mut self) {
        self.cursor.clear();
        if !self.leg.unjudged {
            self.reference.clear();
        }
    }

    fn forget(&mut self) {
        self.cursor.clear();
        self.reference.clear();
        self.empty_legs = 0;
    }
}

fn present(id: &str) -> Option<&str> {
    (!id.is_empty()).then_some(id)
}

/// Reuses the buffer: no allocation once it has grown to the length of the server's ids.
fn keep(kept: &mut String, id: &str) {
    kept.clear();
    kept.push_str(id);
}

#[cfg(test)]
mod tests;
