//! Event ids: how a server numbers its events and how it writes the numbers on the wire.

use std::cell::{Cell, RefCell};

use crate::cursor::Grammar;
use crate::world::draw::{Draws, Purpose, Stream};

/// An event id as the server keeps it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WireId {
    /// The life of the counter that gave it; 0 where the grammar has no epochs.
    pub epoch: u32,
    /// The number within its session of the stream that it names; 0 where it is the standalone one, or the grammar
    /// names no streams.
    pub stream: u32,
    /// The counter's value, or the random value of an opaque id.
    pub number: u64,
}

/// The form of one server's ids, and the source of what is random in them.
pub struct IdForm {
    grammar: Grammar,
    start: u64,
    /// The name of POST stream 1.
    first_stream: u32,
    random: RefCell<Stream>,
}

impl IdForm {
    /// Ids of `grammar` whose counters start at `start`, on server number `server`.
    pub fn new(grammar: Grammar, start: u64, draws: &Draws, server: u32) -> IdForm {
        let random = RefCell::new(draws.stream(Purpose::EventIds, u64::from(server)));
        IdForm { grammar, start, first_stream: 1, random }
    }

    /// The same form, with the first POST stream of a session called `first_stream`.
    pub fn naming_streams_from(self, first_stream: u32) -> IdForm {
        IdForm { first_stream, ..self }
    }

    fn name_of(&self, stream: u32) -> u64 {
        u64::from(stream) - 1 + u64::from(self.first_stream)
    }

    fn stream_called(&self, name: &str) -> Option<u32> {
        let name: u64 = name.parse().ok()?;
        u32::try_from(name.checked_sub(u64::from(self.first_stream))? + 1).ok()
    }

    /// The grammar.
    pub fn grammar(&self) -> Grammar {
        self.grammar
    }

    /// The id as it stands on the wire. The standalone stream has no name, as in the SDKs whose ids name streams.
    pub fn text(&self, id: WireId) -> String {
        let WireId { epoch, stream, number } = id;
        match self.grammar {
            Grammar::Integer => number.to_string(),
            Grammar::EpochSeq => format!("{epoch:08x}:{number}"),
            Grammar::StreamSeq if stream == 0 => format!("_{number}"),
            Grammar::StreamSeq => format!("{}_{number}", self.name_of(stream)),
            Grammar::SeqStream if stream == 0 => number.to_string(),
            Grammar::SeqStream => format!("{number}/{}", self.name_of(stream)),
            Grammar::Opaque => format!("{number:016x}"),
        }
    }

    /// Reads an id that a client presents; none where this server could never have written it so.
    pub fn parse(&self, text: &str) -> Option<WireId> {
        let id = if self.grammar == Grammar::Opaque {
            WireId { epoch: 0, stream: 0, number: u64::from_str_radix(text, 16).ok()? }
        } else {
            let position = self.grammar.parse(text)?;
            WireId {
                epoch: position.epoch.map_or(Some(0), |epoch| u32::from_str_radix(epoch, 16).ok())?,
                stream: match position.stream {
                    None | Some("") => 0,
                    Some(name) => self.stream_called(name)?,
                },
                number: position.seq,
            }
        };
        (self.text(id) == text).then_some(id)
    }

    fn fresh_epoch(&self) -> u32 {
        match self.grammar {
            Grammar::Integer | Grammar::StreamSeq | Grammar::SeqStream | Grammar::Opaque => 0,
            Grammar::EpochSeq => self.random.borrow_mut().bits() as u32,
        }
    }
}

/// A counter of ids: one a session or one a stream.
#[derive(Debug)]
pub struct Numbering {
    epoch: Cell<u32>,
    next: Cell<u64>,
}

impl Numbering {
    /// A counter that stands at its start.
    pub fn new(form: &IdForm) -> Numbering {
        Numbering { epoch: Cell::new(form.fresh_epoch()), next: Cell::new(form.start) }
    }

    /// The next id, for an event of `stream`.
    pub fn take(&self, form: &IdForm, stream: u32) -> WireId {
        let number = self.next.get();
        self.next.set(number.wrapping_add(1));
        match form.grammar {
            Grammar::Integer | Grammar::EpochSeq => WireId { epoch: self.epoch.get(), stream: 0, number },
            Grammar::StreamSeq | Grammar::SeqStream => WireId { epoch: 0, stream, number },
            Grammar::Opaque => WireId { epoch: 0, stream: 0, number: form.random.borrow_mut().bits() },
        }
    }

    /// The id of the standalone stream with number 0, whether or not the counter gives it.
    pub fn zero(&self) -> WireId {
        WireId { epoch: self.epoch.get(), stream: 0, number: 0 }
    }

    /// Starts again, in a new epoch.
    pub fn restart(&self, form: &IdForm) {
        self.epoch.set(form.fresh_epoch());
        self.next.set(form.start);
    }

    /// The epoch of the ids that it gives now.
    pub fn epoch(&self) -> u32 {
        self.epoch.get()
    }

    /// Whether `number` is above every number given in this epoch.
    pub fn is_ahead(&self, number: u64) -> bool {
        number >= self.next.get()
    }

    /// Whether `number` is the one that it gives next.
    pub fn is_next(&self, number: u64) -> bool {
        number == self.next.get()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(grammar: Grammar) -> IdForm {
        IdForm::new(grammar, 17, &Draws::new("ids", 1), 0)
    }

    #[test]
    fn every_grammar_reads_what_it_wrote() {
        for (grammar, stream) in Grammar::ALL.into_iter().flat_map(|grammar| [(grammar, 0), (grammar, 3)]) {
            let form = form(grammar);
            let id = Numbering::new(&form).take(&form, stream);
            assert_eq!(form.parse(&form.text(id)), Some(id), "{grammar:?}");
        }
    }

    #[test]
    fn only_the_exact_text_of_an_id_is_an_id() {
        let cases = [
            (Grammar::Integer, "+17"),
            (Grammar::Integer, "017"),
            (Grammar::Integer, "18446744073709551616"),
            (Grammar::Integer, ""),
            (Grammar::EpochSeq, "17"),
            (Grammar::EpochSeq, "1:17"),
            (Grammar::EpochSeq, "0000000A:17"),
            (Grammar::StreamSeq, "0_17"),
            (Grammar::StreamSeq, "x_17"),
            (Grammar::SeqStream, "17/0"),
            (Grammar::SeqStream, "17/03"),
            (Grammar::Opaque, "17"),
            (Grammar::Opaque, "+00000000000000a"),
        ];
        for (grammar, text) in cases {
            assert_eq!(form(grammar).parse(text), None, "{grammar:?} {text:?}");
        }
    }

    #[test]
    fn streams_are_named_from_the_number_that_the_settings_say() {
        let form = IdForm::new(Grammar::SeqStream, 0, &Draws::new("ids", 1), 0).naming_streams_from(0);
        let ids: Vec<String> =
            [0, 1, 2].map(|stream| form.text(Numbering::new(&form).take(&form, stream))).into_iter().collect();
        assert_eq!(ids, ["0", "0/0", "0/1"]);
        assert_eq!(form.parse("5/0"), Some(WireId { epoch: 0, stream: 1, number: 5 }));
    }

    #[test]
    fn a_restarted_counter_gives_its_first_number_in_another_epoch() {
        let form = form(Grammar::EpochSeq);
        let numbering = Numbering::new(&form);
        let first = numbering.take(&form, 0);
        numbering.take(&form, 0);
        assert!(numbering.is_ahead(19) && !numbering.is_ahead(18));
        numbering.restart(&form);
        let again = numbering.take(&form, 0);
        assert_eq!(again.number, first.number);
        assert_ne!(again.epoch, first.epoch);
    }
}
