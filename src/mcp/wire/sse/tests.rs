use std::time::Duration;

use proptest::prelude::*;

use super::*;

const LIMITS: Limits = Limits { max_event_bytes: 4096 };

/// The items of a stream that comes in these chunks, read out after each.
fn decode_with(limits: Limits, chunks: impl IntoIterator<Item = impl AsRef<[u8]>>) -> Vec<Result<Item, EventTooLong>> {
    let mut decoder = Decoder::new(limits);
    let mut items = Vec::new();
    for chunk in chunks {
        decoder.push(chunk.as_ref());
        items.extend(decoder.by_ref());
    }
    items
}

fn decode(stream: &[u8]) -> Vec<Item> {
    decode_with(LIMITS, [stream]).into_iter().map(Result::unwrap).collect()
}

/// An event whose block has this id field.
fn event(id: &str, data: &str) -> Item {
    Item::Event(Event { id: (!id.is_empty()).then(|| id.to_owned()), own_id: true, data: data.to_owned() })
}

/// An event whose block has no id field.
fn inheriting(id: Option<&str>, data: &str) -> Item {
    Item::Event(Event { id: id.map(str::to_owned), own_id: false, data: data.to_owned() })
}

fn retry(ms: u64) -> Item {
    Item::Retry(Duration::from_millis(ms))
}

/// The rules of the standard, one case each. The table in the module's documentation comes from these streams.
#[test]
fn the_rules_of_the_standard() {
    let cases: Vec<(&str, &[u8], Vec<Item>)> = vec![
        ("an event", b"id: 1\ndata: a\n\n", vec![event("1", "a")]),
        (
            "an id counts for later events of the leg",
            b"id: 1\ndata: a\n\ndata: b\n\n",
            vec![event("1", "a"), inheriting(Some("1"), "b")],
        ),
        (
            "an id takes effect at dispatch: a cut event has none",
            b"id: 1\ndata: a\n\nid: 2\ndata: b\n",
            vec![event("1", "a")],
        ),
        ("the last id of a block counts", b"id: 1\ndata: a\nid: 2\n\n", vec![event("2", "a")]),
        (
            "an empty id clears",
            b"id: 1\ndata: a\n\nid:\ndata: b\n\ndata: c\n\n",
            vec![event("1", "a"), event("", "b"), inheriting(None, "c")],
        ),
        ("an id without a colon clears", b"id: 1\ndata: a\n\nid\ndata: b\n\n", vec![event("1", "a"), event("", "b")]),
        (
            "NULL voids an id field, and only that field",
            b"id: 1\ndata: a\n\nid: 2\0\ndata: b\n\nid: 3\nid: \0\ndata: c\n\n",
            vec![event("1", "a"), inheriting(Some("1"), "b"), event("3", "c")],
        ),
        (
            "an id without data is dispatched as no event",
            b"id: 7\n\ndata: a\n\nid:\n\n",
            vec![Item::Id(Some("7".into())), inheriting(Some("7"), "a"), Item::Id(None)],
        ),
        (
            "a priming event has empty data",
            b"id: 7\ndata:\n\nid: 8\ndata\n\nid: 9\ndata: \n\n",
            vec![event("7", ""), event("8", ""), event("9", "")],
        ),
        (
            "data lines are joined with LF",
            b"data: a\ndata:\ndata: b\n\ndata\ndata\n\n",
            vec![inheriting(None, "a\n\nb"), inheriting(None, "\n")],
        ),
        (
            "one space after the colon is dropped",
            b"data:a\n\ndata:  a\n\ndata:\ta\n\n",
            vec![inheriting(None, "a"), inheriting(None, " a"), inheriting(None, "\ta")],
        ),
        ("retry acts on its own line", b"retry: 500\n\ndata: a\nretry: 007\n", vec![retry(500), retry(7)]),
        (
            "retry is digits only",
            b"retry: +5\nretry: -5\nretry: 5 \nretry: 5s\nretry:\nretry: 0x5\nretry: \xd9\xa5\n",
            vec![],
        ),
        ("a retry beyond all numbers is the largest", b"retry: 99999999999999999999999\n", vec![retry(u64::MAX)]),
        ("CR ends a line", b"id: 1\rdata: a\r\r", vec![event("1", "a")]),
        ("CRLF ends a line", b"id: 1\r\ndata: a\r\n\r\n", vec![event("1", "a")]),
        (
            "line ends may be mixed",
            b"data: a\r\ndata: b\rdata: c\n\r\ndata: d\n\r",
            vec![inheriting(None, "a\nb\nc"), inheriting(None, "d")],
        ),
        ("LF CR are two line ends", b"data: a\n\rdata: b\n\n", vec![inheriting(None, "a"), inheriting(None, "b")]),
        (
            "one leading byte-order mark is dropped",
            b"\xef\xbb\xbfdata: a\n\n\xef\xbb\xbfdata: b\n\n",
            vec![inheriting(None, "a")],
        ),
        ("a second byte-order mark is part of a name", b"\xef\xbb\xbf\xef\xbb\xbfdata: a\n\n", vec![]),
        ("invalid UTF-8 is replaced", b"id: \xff\ndata: \xe2\x82\n\n: \xff\n\n", vec![event("\u{fffd}", "\u{fffd}")]),
        (
            "comments and unknown fields are ignored",
            b": id: 1\n:\nevent: message\nfoo: bar\n data: x\nDATA: x\ndata: a\n\n",
            vec![inheriting(None, "a")],
        ),
        ("blank lines dispatch nothing", b"\n\r\n\r\n\n", vec![]),
        ("a keep-alive is nothing", KEEP_ALIVE.as_bytes(), vec![]),
    ];
    for (rule, stream, expected) in cases {
        assert_eq!(decode(stream), expected, "{rule}");
        let bytes = decode_with(LIMITS, stream.chunks(1));
        let expected: Vec<_> = expected.into_iter().map(Ok).collect();
        assert_eq!(bytes, expected, "{rule}, byte by byte");
    }
}

#[test]
fn an_event_that_ends_with_cr_is_dispatched_at_once() {
    let mut decoder = Decoder::new(LIMITS);
    decoder.push(b"data: a\r\r");
    assert_eq!(decoder.next(), Some(Ok(inheriting(None, "a"))));
    decoder.push(b"\n");
    assert_eq!(decoder.next(), None);
}

#[test]
fn what_the_validator_takes_is_the_id_of_the_block_itself() {
    let fields: Vec<_> = decode(b"data: a\n\nid: 1\ndata: b\n\ndata: c\n\nid\ndata: d\n\n")
        .into_iter()
        .map(|item| match item {
            Item::Event(event) => event.id_field().map(str::to_owned),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(fields, [None, Some("1".into()), None, Some("".into())]);
}

#[test]
fn an_event_above_the_limit_ends_the_stream_with_an_error() {
    let limits = Limits { max_event_bytes: 10 };
    let too_long = EventTooLong { max_event_bytes: 10 };
    let good = || Ok(inheriting(None, "1234"));
    let cases: [(&[u8], Vec<_>); 5] = [
        (b"data: 1234\n\n", vec![good()]),
        (b"data: 1234\n\ndata: 12345\n\ndata: 1234\n\n", vec![good(), Err(too_long)]),
        (b"data: 1234\ndata: 1\n\n", vec![Err(too_long)]),
        (b"data: 1234\n\n: no end of line", vec![good(), Err(too_long)]),
        (b"data: 1234\n\ndata: 1234\n\ndata: 1234\n\n", vec![good(), good(), good()]),
    ];
    for (stream, expected) in cases {
        assert_eq!(decode_with(limits, [stream]), expected);
        assert_eq!(decode_with(limits, stream.chunks(1)), expected);
    }
}

#[test]
fn a_priming_event_on_the_wire() {
    let mut out = Vec::new();
    encode(&mut out, Some("8412"), Some(1500), "");
    assert_eq!(String::from_utf8(out).unwrap(), "id: 8412\nretry: 1500\ndata:\n\n");
}

#[test]
fn data_of_several_lines_on_the_wire() {
    let mut out = Vec::new();
    encode(&mut out, None, None, " a\r\nb\rc\n");
    assert_eq!(String::from_utf8(out).unwrap(), "data:  a\ndata: b\ndata: c\ndata:\n\n");
}

#[test]
fn an_id_that_cannot_be_carried_is_left_out() {
    for id in ["1\n", "1\rdata: x", "1\0"] {
        let mut out = Vec::new();
        encode(&mut out, Some(id), None, "a");
        assert_eq!(out, b"data: a\n\n", "{id:?}");
    }
}

/// Text that is mostly the bytes the grammar cares about.
fn stream() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        4 => prop::sample::select(&[
            "data", "id", "retry", ":", ": ", "\n", "\r", "\r\n", "\n\n", "17", "a", "\0", "\u{feff}", "€",
        ][..])
        .prop_map(|text| text.as_bytes().to_vec()),
        1 => prop::collection::vec(any::<u8>(), 0..4),
    ];
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

fn cut(stream: &[u8], mut sizes: impl Iterator<Item = usize>) -> Vec<&[u8]> {
    let mut chunks = Vec::new();
    let mut rest = stream;
    while !rest.is_empty() {
        let (chunk, tail) = rest.split_at(sizes.next().unwrap_or(usize::MAX).min(rest.len()));
        chunks.push(chunk);
        rest = tail;
    }
    chunks
}

proptest! {
    #[test]
    fn what_is_encoded_is_decoded(
        id in prop::option::of("[^\r\n\0]{0,8}"), retry_ms: Option<u64>, data in "([a \r\n:]|\\PC){0,20}",
    ) {
        let mut out = bytes::BytesMut::new();
        encode(&mut out, id.as_deref(), retry_ms, &data);
        let mut expected: Vec<Item> = retry_ms.map(retry).into_iter().collect();
        expected.push(Item::Event(Event {
            id: id.clone().filter(|id| !id.is_empty()),
            own_id: id.is_some(),
            data: data.replace("\r\n", "\n").replace('\r', "\n"),
        }));
        prop_assert_eq!(decode(&out), expected);
    }

    #[test]
    fn chunks_do_not_matter(
        stream in stream(), sizes in prop::collection::vec(0_usize..6, 0..60), max_event_bytes in 0_usize..40,
    ) {
        let limits = Limits { max_event_bytes };
        let whole = decode_with(limits, [&stream]);
        prop_assert_eq!(&decode_with(limits, cut(&stream, sizes.into_iter())), &whole);
        prop_assert_eq!(&decode_with(limits, stream.chunks(1)), &whole);
    }

    #[test]
    fn arbitrary_bytes_never_panic_and_nothing_comes_after_an_error(
        chunks in prop::collection::vec(prop_oneof![stream(), prop::collection::vec(any::<u8>(), 0..64)], 0..8),
    ) {
        let limits = Limits { max_event_bytes: 16 };
        let items = decode_with(limits, chunks);
        let error = items.iter().position(Result::is_err);
        prop_assert!(error.is_none_or(|at| at + 1 == items.len()), "{:?}", items);
    }
}
