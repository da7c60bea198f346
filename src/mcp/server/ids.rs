//! Event ids: how a server numbers its events and how it writes the numbers on the wire.

use std::cell::{Cell, RefCell};

use super::settings::{EpochNames, ServerSettings};
use crate::cursor::Grammar;
use crate::world::draw::{Draws, Purpose, Stream};
use sha2::{Digest, Sha256};

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
    /// Whether events carry their ids.
    written: bool,
    epoch_names: EpochNames,
    random: RefCell<Stream>,
}

impl IdForm {
    /// The ids of server number `server` with these settings.
    pub fn new(settings: &ServerSettings, draws: &Draws, server: u32) -> IdForm {
        IdForm {
            grammar: settings.id_grammar,
            start: settings.counter_start,
            first_stream: settings.first_stream,
            written: settings.event_ids,
            epoch_names: settings.epoch_names,
            random: RefCell::new(draws.stream(Purpose::EventIds, u64::from(server))),
        }
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

    /// The id that an event carries: none where events carry no ids.
    pub fn carried(&self, id: WireId) -> Option<String> {
        self.written.then(|| self.text(id))
    }

    /// The id as text. The standalone stream has no name, as in the SDKs whose ids name streams.
    fn text(&self, id: WireId) -> String {
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
        if !self.written {
            return None;
        }
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

    fn epoch_of(&self, whose: Whose<'_>) -> u32 {
        match (self.grammar, self.epoch_names) {
            (Grammar::Integer | Grammar::StreamSeq | Grammar::SeqStream | Grammar::Opaque, _) => 0,
            (Grammar::EpochSeq, EpochNames::Counter) => self.random.borrow_mut().bits() as u32,
            (Grammar::EpochSeq, EpochNames::Stream) => whose.name(),
        }
    }
}

/// Whose counter it is.
#[derive(Clone, Copy, Debug)]
pub struct Whose<'a> {
    /// The session's key; the empty one where sessions share it.
    pub session: &'a str,
    /// The stream's number; 0 where streams share it.
    pub stream: u32,
}

impl Whose<'_> {
    /// A name for it: the first bytes of a digest, where the SDK writes both out.
    fn name(self) -> u32 {
        let digest = Sha256::new().chain_update(self.session).chain_update(self.stream.to_be_bytes()).finalize();
        digest.iter().take(4).fold(0, |name, byte| name << 8 | u32::from(*byte))
    }
}

/// A counter of ids: one a session, one a stream or one a process.
#[derive(Debug)]
pub struct Numbering {
    epoch: Cell<u32>,
    next: Cell<u64>,
}

impl Numbering {
    /// A counter that stands at its start.
    pub fn new(form: &IdForm, whose: Whose<'_>) -> Numbering {
        Numbering { epoch: Cell::new(form.epoch_of(whose)), next: Cell::new(form.start) }
    }

    /// Goes on after `number`, whatever it has given so far.
    pub fn adopt(&self, number: u64) {
        self.next.set(number.wrapping_add(1));
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

    /// Starts again; in a new epoch, where epochs stand for the counter's lives.
    pub fn restart(&self, form: &IdForm) {
        if form.epoch_names == EpochNames::Counter {
            self.epoch.set(form.epoch_of(Whose { session: "", stream: 0 }));
        }
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

    const SHARED: Whose<'_> = Whose { session: "", stream: 0 };

    fn of(settings: &ServerSettings) -> IdForm {
        IdForm::new(settings, &Draws::new("ids", 1), 0)
    }

    fn form(grammar: Grammar) -> IdForm {
        of(&ServerSettings { id_grammar: grammar, counter_start: 17, ..ServerSettings::default() })
    }

    #[test]
    fn every_grammar_reads_what_it_wrote() {
        for (grammar, stream) in Grammar::ALL.into_iter().flat_map(|grammar| [(grammar, 0), (grammar, 3)]) {
            let form = form(grammar);
            let id = Numbering::new(&form, SHARED).take(&form, stream);
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
        let form = of(&ServerSettings {
            id_grammar: Grammar::SeqStream,
            counter_start: 0,
            first_stream: 0,
            ..ServerSettings::default()
        });
        let ids: Vec<String> =
            [0, 1, 2].map(|stream| form.text(Numbering::new(&form, SHARED).take(&form, stream))).into_iter().collect();
        assert_eq!(ids, ["0", "0/0", "0/1"]);
        assert_eq!(form.parse("5/0"), Some(WireId { epoch: 0, stream: 1, number: 5 }));
    }

    #[test]
    fn a_restarted_counter_gives_its_first_number_in_another_epoch() {
        let form = form(Grammar::EpochSeq);
        let numbering = Numbering::new(&form, SHARED);
        let first = numbering.take(&form, 0);
        numbering.take(&form, 0);
        assert!(numbering.is_ahead(19) && !numbering.is_ahead(18));
        numbering.restart(&form);
        let again = numbering.take(&form, 0);
        assert_eq!(again.number, first.number);
        assert_ne!(again.epoch, first.epoch);
    }

    #[test]
    fn an_epoch_that_names_the_stream_outlives_the_counter() {
        let mut settings = ServerSettings { id_grammar: Grammar::EpochSeq, ..ServerSettings::default() };
        settings.epoch_names = EpochNames::Stream;
        let form = of(&settings);
        let first = |session, stream| Numbering::new(&form, Whose { session, stream }).take(&form, stream);
        assert_eq!(first("a", 1), first("a", 1), "another writer of the same stream counts the same ids");
        assert_ne!(first("a", 1).epoch, first("a", 2).epoch);
        assert_ne!(first("a", 1).epoch, first("b", 1).epoch);
        let numbering = Numbering::new(&form, Whose { session: "a", stream: 1 });
        let before = numbering.take(&form, 1);
        numbering.restart(&form);
        assert_eq!(numbering.take(&form, 1), before);
    }

    #[test]
    fn without_ids_nothing_is_written_and_nothing_is_read() {
        let form = of(&ServerSettings { event_ids: false, ..ServerSettings::default() });
        let id = Numbering::new(&form, SHARED).take(&form, 0);
        assert_eq!((form.carried(id), form.parse("1")), (None, None));
    }

    #[test]
    fn a_counter_that_adopts_a_number_goes_on_after_it() {
        let form = form(Grammar::Integer);
        let numbering = Numbering::new(&form, SHARED);
        numbering.adopt(8412);
        assert_eq!(numbering.take(&form, 0).number, 8413);
    }
}
