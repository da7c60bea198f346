//! Which events have which numbers.

use super::*;
use crate::cursor::Grammar;
use crate::mcp::server::settings::{CounterScope, CursorAnswer, Delivery, FreshGetAnswer, Numbered};
use crate::observe::event::CursorFound;
use crate::world::draw::Span;
use crate::world::fault::Keep;

/// The ids of the data events of a whole call, its priming event left out.
async fn data_ids(mut leg: Answer) -> Vec<String> {
    let (blocks, _) = leg.within(100).await;
    blocks
        .into_iter()
        .filter(|block| block.data.as_deref().is_some_and(|data| !data.is_empty()))
        .filter_map(|block| block.id)
        .collect()
}

fn short_call(change: impl FnOnce(&mut ServerSettings)) -> Setup {
    Setup::server(|server| {
        server.priming = false;
        change(server);
    })
    .tool(|tool| {
        tool.parts = Span::exactly(2);
        tool.interval_s = Span::exactly(Seconds::new(1));
    })
}

#[test]
fn sessions_share_a_counter_of_the_process_which_starts_again_with_it() {
    let stop = Fault::ServerShutdown {
        server: 0,
        keep: Keep { sessions: false, store: false, counters: false },
        down_s: Seconds::new(1),
    };
    short_call(|server| server.counter_scope = CounterScope::Process).fault(20, stop).run(async |world| {
        let (one, other) = (world.client(0), world.client(1));
        one.initialize().await;
        other.initialize().await;
        assert_eq!(data_ids(one.call(0, 0).await).await, ["1", "2", "3"]);
        assert_eq!(data_ids(other.call(0, 0).await).await, ["4", "5", "6"]);
        until(30.0).await;
        let one = world.client(0);
        one.initialize().await;
        assert_eq!(data_ids(one.call(1, 0).await).await, ["1", "2", "3"]);
    });
}

#[test]
fn a_cursor_ahead_can_be_adopted_by_the_counter() {
    short_call(|server| {
        server.id_grammar = Grammar::StreamSeq;
        server.counter_scope = CounterScope::Stream;
        server.ahead_cursor = CursorAnswer::Adopt;
    })
    .run(async |world| {
        let client = world.client(0);
        client.initialize().await;
        drop(client.call(0, 0).await);
        assert_eq!(data_ids(client.resume("1_99").await).await, ["1_100", "1_101", "1_102"]);
        assert!(world.has(|event| matches!(event, Event::Attached { found: CursorFound::Ahead, .. })));
    });
}

#[test]
fn what_nobody_is_attached_for_has_no_number_where_the_server_is_told_so() {
    short_call(|server| {
        server.numbered = Numbered::WhileAttached;
        server.delivery = Delivery::GetStream;
    })
    .run(async |world| {
        let client = world.client(0);
        client.initialize().await;
        assert_eq!(client.call(0, 0).await.status, 202);
        until(10.0).await;
        let leg = client.get().await;
        assert_eq!(world.count(|event| matches!(event, Event::Discarded { .. })), 3, "two parts and the response");
        assert_eq!(client.call(1, 0).await.status, 202);
        assert_eq!(data_ids(leg).await, ["1", "2", "3"], "no id tells of what is lost");
    });
}

#[test]
fn a_server_without_ids_or_without_a_standalone_stream_says_so() {
    short_call(|server| {
        server.event_ids = false;
        server.fresh_get_answer = FreshGetAnswer::NotAllowed;
        server.unknown_cursor = CursorAnswer::Gone;
    })
    .run(async |world| {
        let client = world.client(0);
        client.initialize().await;
        let (blocks, ended) = client.call(0, 0).await.within(10).await;
        assert_eq!((blocks.len(), ended), (3, true));
        assert!(blocks.iter().all(|block| block.id.is_none()));
        assert_eq!(client.get().await.status, 405);
        assert_eq!(client.resume("1").await.status, 410, "an id that this server never writes");
    });
}
