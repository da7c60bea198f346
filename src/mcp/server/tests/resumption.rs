//! Legs: where they start, what they carry, and what a cursor is answered with.

use super::*;
use crate::cursor::Grammar;
use crate::mcp::server::settings::{Churn, CounterScope, CursorAnswer, Delivery, GetSlot, Replay};
use crate::observe::event::{Cause, CursorFound};
use crate::world::draw::Span;

/// Bursts of ten events at 10 s, 20 s, … and a buffer of four: at 11 s the ids 1 to 10 are given, 7 to 10 kept.
fn bursts(change: impl FnOnce(&mut ServerSettings)) -> Setup {
    Setup::server(|server| {
        server.buffer_events = 4;
        server.churn = Some(Churn {
            interval_s: Span::exactly(Seconds::new(10)),
            burst_events: Span::exactly(10),
            quiet_every_bursts: 0,
            quiet_s: Span::exactly(Seconds::new(0)),
        });
        change(server);
    })
}

fn ids(range: std::ops::RangeInclusive<u64>) -> Vec<String> {
    range.map(|id| id.to_string()).collect()
}

fn attached(found: CursorFound) -> impl Fn(&Event) -> bool {
    move |event| matches!(event, Event::Attached { found: f, .. } if *f == found)
}

fn detached(expected: &str) -> impl Fn(&Event) -> bool {
    move |event| matches!(event, Event::Detached { why, .. } if why == expected)
}

#[test]
fn a_known_cursor_is_continued() {
    for (replay, cursor, replayed, next) in [
        (Replay::After, "8", ids(9..=10), 8),
        (Replay::After, "10", vec![], 10),
        (Replay::Inclusive, "8", ids(8..=10), 7),
        (Replay::Inclusive, "10", ids(10..=10), 9),
    ] {
        bursts(|server| server.replay = replay).run(async |world| {
            let client = world.client(0);
            client.initialize().await;
            until(11.0).await;
            let mut answer = client.resume(cursor).await;
            assert_eq!(answer.ids().await, (replayed, false), "{replay:?} {cursor}");
            assert!(world.has(|event| matches!(event, Event::Attached {
                log: Some(0), next: n, found: CursorFound::Known, ..
            } if *n == next)));
            until(21.0).await;
            assert_eq!(answer.ids().await.0, ids(11..=20), "then live");
        });
    }
}

#[test]
fn the_newest_id_is_known_even_where_its_event_is_gone() {
    bursts(|server| {
        server.buffer_ttl_s = Some(Seconds::new(5));
        server.replay = Replay::Inclusive;
    })
    .run(async |world| {
        let client = world.client(0);
        client.initialize().await;
        until(18.0).await;
        let expired = |event: &Event| matches!(event, Event::Evicted { through: 9, cause: Cause::Expired, .. });
        assert_eq!(world.when(expired), 15.0);
        assert_eq!(client.resume("10").await.ids().await, (vec![], false));
        assert!(world.has(attached(CursorFound::Known)));
    });
}

#[test]
fn a_cursor_that_cannot_be_honoured_gets_the_answer_of_its_class() {
    let answers = [
        (CursorAnswer::Oldest, 200, ids(7..=10), false, 10),
        (CursorAnswer::Live, 200, vec![], false, 10),
        (CursorAnswer::Primer, 200, ids(11..=11), false, 10),
        (CursorAnswer::EmptyClosed, 200, vec![], true, 0),
        (CursorAnswer::Silent, 200, vec![], false, 0),
        (CursorAnswer::Reject, 400, vec![], true, 0),
    ];
    for (cursor, found) in [
        ("6", CursorFound::Purged),
        ("0", CursorFound::Purged),
        ("11", CursorFound::Ahead),
        ("8412", CursorFound::Ahead),
        ("07", CursorFound::Unknown),
        ("b1946ac9", CursorFound::Unknown),
    ] {
        for (answer, status, replayed, ends, later) in answers.clone() {
            let setup = bursts(|server| {
                // The other classes are answered otherwise, so that a wrong class shows.
                let other = match answer {
                    CursorAnswer::Reject => CursorAnswer::Live,
                    _ => CursorAnswer::Reject,
                };
                server.purged_cursor = other;
                server.ahead_cursor = other;
                server.unknown_cursor = other;
                match found {
                    CursorFound::Purged => server.purged_cursor = answer,
                    CursorFound::Ahead => server.ahead_cursor = answer,
                    _ => server.unknown_cursor = answer,
                }
            });
            setup.run(async |world| {
                let client = world.client(0);
                client.initialize().await;
                until(11.0).await;
                let mut leg = client.resume(cursor).await;
                let name = format!("{cursor} {answer:?}");
                assert_eq!(leg.status, status, "{name}");
                if status != 200 {
                    assert_eq!(leg.json().await["error"]["code"], -32000, "{name}");
                    assert!(!world.has(attached(found)), "{name}");
                    return;
                }
                assert_eq!(leg.ids().await, (replayed, ends), "{name}");
                assert!(world.has(attached(found)), "{name}");
                assert_eq!(world.has(detached("answered")), ends, "{name}");
                until(21.0).await;
                assert_eq!(leg.ids().await.0.len(), later, "{name}");
            });
        }
    }
}

#[test]
fn a_fresh_stream_starts_at_the_end() {
    bursts(|server| {
        server.priming = true;
        server.retry_s = Some(Seconds::new(3));
    })
    .run(async |world| {
        let client = world.client(0);
        client.initialize().await;
        until(11.0).await;
        let mut leg = client.get().await;
        let (blocks, _) = leg.within(1).await;
        assert_eq!(
            blocks,
            [Block { id: Some("11".into()), data: Some(String::new()), retry: Some("3000".into()), comment: false }]
        );
        assert!(
            world.has(|event| matches!(
                event,
                Event::Attached { log: Some(0), next: 10, found: CursorFound::Absent, .. }
            ))
        );
        until(21.0).await;
        assert_eq!(leg.ids().await.0, ids(12..=21));
    });
}

#[test]
fn an_empty_cursor_is_no_cursor() {
    bursts(|_| {}).run(async |world| {
        let client = world.client(0);
        client.initialize().await;
        until(11.0).await;
        assert_eq!(client.resume("").await.ids().await, (vec![], false));
        assert!(world.has(attached(CursorFound::Absent)));
    });
}

#[test]
fn without_priming_a_fresh_stream_still_tells_the_reconnection_time() {
    Setup::server(|server| server.retry_s = Some(Seconds::new(3))).run(async |world| {
        let client = world.client(0);
        client.initialize().await;
        let block = client.get().await.block().await.expect("a block");
        assert_eq!((block.retry.as_deref(), block.id, block.data), (Some("3000"), None, None));
    });
}

#[test]
fn a_priming_id_is_a_cursor_while_its_successor_is_kept() {
    bursts(|server| {
        server.priming = true;
        server.buffer_events = 16;
        server.purged_cursor = CursorAnswer::Reject;
    })
    .run(async |world| {
        let client = world.client(0);
        client.initialize().await;
        drop(client.get().await);
        until(11.0).await;
        assert_eq!(client.resume("1").await.ids().await, (ids(2..=11), false));
        until(21.0).await;
        assert_eq!(client.resume("1").await.status, 400);
    });
}

#[test]
fn a_burst_larger_than_the_buffer_reaches_a_reader_that_keeps_up() {
    bursts(|_| {}).run(async |world| {
        let client = world.client(0);
        client.initialize().await;
        let mut leg = client.get().await;
        assert_eq!(leg.within(11).await.0.len(), 10);
        assert!(!world.has(|event| matches!(event, Event::Rebased { .. })));
        let evicted = |event: &Event| matches!(event, Event::Evicted { log: 0, through: 5, cause: Cause::Churn });
        assert_eq!(world.count(evicted), 1, "the buffer is as small as ever");
        assert_eq!(world.count(|event| matches!(event, Event::Evicted { .. })), 1);
    });
}

#[test]
fn a_slow_reader_jumps_to_the_oldest_event_and_the_jump_is_reported() {
    Setup::server(|server| {
        server.delivery = Delivery::GetStream;
        server.buffer_events = 2;
        server.counter_start = 0;
    })
    .tool(|tool| {
        tool.parts = Span::exactly(200);
        tool.part_bytes = 16 * 1024;
    })
    .run(async |world| {
        let client = world.client(0);
        client.initialize().await;
        let mut leg = client.get().await;
        client.call(0, 0).await;
        until(1000.0).await;
        let (received, _) = leg.ids().await;
        let (sent, next) = world
            .events()
            .into_iter()
            .find_map(|event| match event {
                Event::Rebased { sent, log: 0, next, cause: Cause::Churn, .. } => Some((sent, next)),
                _ => None,
            })
            .expect("a jump");
        let position = |index: usize| received[index].parse::<u64>().expect("an integer");
        let sent_before = usize::try_from(sent).expect("few");
        assert_eq!(position(sent_before - 1), sent - 1);
        assert_eq!(position(sent_before), next);
        assert!(next > sent);
    });
}

#[test]
fn a_second_leg_takes_over_or_is_refused() {
    Setup::server(|server| server.get_slot = GetSlot::TakeOver).run(async |world| {
        let client = world.client(0);
        client.initialize().await;
        let mut first = client.get().await;
        let mut second = client.get().await;
        assert_eq!(first.ids().await, (vec![], true));
        assert_eq!(second.ids().await, (vec![], false));
        assert_eq!(world.count(detached("taken-over")), 1);
    });
    Setup::server(|server| server.get_slot = GetSlot::Conflict).run(async |world| {
        let client = world.client(0);
        client.initialize().await;
        let first = client.get().await;
        assert_eq!(client.get().await.status, 409);
        assert_eq!(client.resume("1").await.status, 409);
        drop(first);
        sleep(Duration::from_millis(1)).await;
        assert_eq!(client.get().await.status, 200);
    });
}

#[test]
fn a_post_stream_is_resumed_by_its_own_ids_and_a_newer_leg_takes_over() {
    Setup::server(|server| server.get_slot = GetSlot::Conflict).run(async |world| {
        let client = world.client(0);
        client.initialize().await;
        let _standalone = client.get().await;
        let mut first = client.call(0, 0).await;
        until(5.0).await;
        let mut second = client.resume("1").await;
        assert_eq!(second.status, 200);
        assert!(first.within(1).await.1, "the first leg ends");
        assert_eq!(second.within(60).await.0.len(), 8, "parts 2 to 8 and the response");
        let mut third = client.resume("9").await;
        assert_eq!(third.ids().await, (vec![], true), "nothing is left");
    });
}

#[test]
fn streams_of_a_session_share_its_counter_or_have_their_own() {
    for (scope, first_ids) in [(CounterScope::Session, ["1", "2"]), (CounterScope::Stream, ["1", "1"])] {
        Setup::server(|server| server.counter_scope = scope).run(async |world| {
            let client = world.client(0);
            client.initialize().await;
            let mut legs = [client.call(0, 0).await, client.call(1, 0).await];
            for (leg, id) in legs.iter_mut().zip(first_ids) {
                assert_eq!(leg.block().await.expect("a part").id.as_deref(), Some(id), "{scope:?}");
            }
        });
    }
}

#[test]
fn an_epoch_tag_names_its_stream_where_streams_count_alone() {
    Setup::server(|server| {
        server.id_grammar = Grammar::EpochSeq;
        server.counter_scope = CounterScope::Stream;
        server.buffer_events = 2;
        server.purged_cursor = CursorAnswer::Oldest;
        server.unknown_cursor = CursorAnswer::Reject;
    })
    .run(async |world| {
        let client = world.client(0);
        client.initialize().await;
        let (ids, _) = client.call(0, 0).await.ids().await;
        assert!(ids.is_empty(), "the first part comes after two seconds");
        until(100.0).await;
        let (tag, number) = match &world.events().into_iter().rev().find_map(|event| match event {
            Event::Appended { last_id, .. } => last_id,
            _ => None,
        }) {
            Some(id) => id.split_once(':').map(|(tag, n)| (tag.to_owned(), n.to_owned())),
            None => None,
        }
        .expect("a tagged id");
        assert_eq!((tag.len(), number.as_str()), (8, "9"));
        let mut leg = client.resume(&format!("{tag}:1")).await;
        let oldest = vec![format!("{tag}:8"), format!("{tag}:9")];
        assert_eq!(leg.ids().await, (oldest, true));
        assert!(world.has(attached(CursorFound::Purged)));
        let mut leg = client.resume(&format!("{tag}:10")).await;
        assert_eq!(leg.ids().await, (vec![], true));
        assert!(world.has(attached(CursorFound::Ahead)));
        assert_eq!(client.resume("00000000:1").await.status, 400);
        assert_eq!(client.resume("9").await.status, 400);
    });
}

#[test]
fn an_opaque_id_is_known_or_unknown_and_nothing_else() {
    bursts(|server| {
        server.id_grammar = Grammar::Opaque;
        server.unknown_cursor = CursorAnswer::Reject;
    })
    .run(async |world| {
        let client = world.client(0);
        client.initialize().await;
        let mut leg = client.get().await;
        let (blocks, _) = leg.within(11).await;
        let ids: Vec<String> = blocks.into_iter().filter_map(|block| block.id).collect();
        assert!(ids.iter().all(|id| id.len() == 16));
        assert_eq!(client.resume(&ids[7]).await.ids().await.0, ids[8..]);
        assert_eq!(client.resume(&ids[2]).await.status, 400);
        assert_eq!(client.resume("ffffffffffffffff").await.status, 400);
    });
}

#[test]
fn comments_keep_an_idle_leg_alive_and_only_an_idle_one() {
    bursts(|server| {
        server.keep_alive_s = Some(Seconds::new(4));
        server.unknown_cursor = CursorAnswer::Silent;
    })
    .run(async |world| {
        let client = world.client(0);
        client.initialize().await;
        let mut leg = client.get().await;
        let (blocks, _) = leg.within(13).await;
        let comments: Vec<bool> = blocks.iter().map(|block| block.comment).collect();
        let expected = [vec![true; 2], vec![false; 10]].concat();
        assert_eq!(comments, expected, "at 4 s, 8 s, then the burst at 10 s");
        let (blocks, _) = client.resume("nonsense").await.within(9).await;
        assert_eq!(blocks.iter().filter(|block| block.comment).count(), 2);
    });
}

#[test]
fn only_so_many_complete_streams_are_kept() {
    Setup::server(|server| server.unknown_cursor = CursorAnswer::Reject)
        .tool(|tool| {
            tool.parts = Span::exactly(0);
            tool.interval_s = Span::exactly(Seconds::new(1));
        })
        .run(async |world| {
            let client = world.client(0);
            client.initialize().await;
            for call in 0..=ServerSettings::default().complete_streams {
                assert_eq!(client.call(call, 0).await.within(5).await.0.len(), 1);
            }
            let forgotten = |event: &Event| matches!(event, Event::LogClosed { log: 1, cause: Cause::Finished });
            assert_eq!(world.count(forgotten), 1);
            assert_eq!(world.count(|event| matches!(event, Event::LogClosed { .. })), 1);
            assert_eq!(client.resume("2").await.ids().await, (vec![], true));
            assert!(!world.has(attached(CursorFound::Purged)));
            client.resume("1").await;
            assert!(world.has(attached(CursorFound::Purged)));
        });
}
