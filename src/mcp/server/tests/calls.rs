//! Tool calls: delivery, checkpoints, cancellation, and what happens to output that nobody can get.

use super::*;
use crate::mcp::server::settings::Delivery;
use crate::mcp::server::tools::plan;
use crate::mcp::wire::message::Progress;
use crate::observe::event::{CursorFound, ExecutionEnd, FrameKind};
use crate::world::draw::Span;

/// Three parts, one second apart, then the response.
fn three_parts(server: impl FnOnce(&mut ServerSettings)) -> Setup {
    Setup::server(server).tool(|tool| {
        tool.parts = Span::exactly(3);
        tool.interval_s = Span::exactly(Seconds::new(1));
        tool.part_bytes = 16;
    })
}

fn part(block: &Block) -> Progress {
    serde_json::from_value(block.message()["params"].clone()).expect("a part")
}

#[test]
fn a_post_stream_carries_primer_parts_and_response_and_ends() {
    three_parts(|server| {
        server.priming = true;
        server.retry_s = Some(Seconds::from_millis(1500));
        server.counter_start = 8412;
    })
    .run(async |world| {
        let client = world.client(3);
        client.initialize().await;
        let mut answer = client.call(7, 0).await;
        assert_eq!(answer.headers["content-type"], "text/event-stream");
        let (blocks, ended) = answer.within(10).await;
        assert!(ended);
        let ids: Vec<_> = blocks.iter().map(|b| b.id.as_deref().expect("an id")).collect();
        assert_eq!(ids, ["8412", "8413", "8414", "8415", "8416"]);
        assert_eq!(blocks[0].data.as_deref(), Some(""));
        assert_eq!(blocks[0].retry.as_deref(), Some("1500"));
        let checks = plan(&world.server.draws, &world.server.tool, 3, 7).checks;
        for (index, block) in blocks[1..4].iter().enumerate() {
            let part = part(block);
            assert_eq!(part.check(), Some(checks[index]));
            assert_eq!(
                (part.token.as_str(), part.progress, part.total, part.message.len()),
                ("token", index as u32 + 1, 3, 16)
            );
        }
        assert_eq!(blocks[4].message()["id"], 7);
        assert_eq!(blocks[4].message()["result"]["isError"], false);
        assert!(world.has(|event| matches!(event, Event::ExecutionStarted {
            client: 3, call: 7, execution: 1, from_part: 0, checks: told
        } if *told == checks)));
        assert!(world.has(|event| matches!(
            event,
            Event::Attached { client: 3, log: Some(1), next: 0, found: CursorFound::Absent, .. }
        )));
        assert!(world.has(|event| matches!(
            event,
            Event::Appended { log: 1, first: 3, last: 3, kind: FrameKind::Response, .. }
        )));
        assert!(world.has(|event| matches!(event, Event::Detached { why, .. } if why == "response-sent")));
    });
}

#[test]
fn parts_arrive_at_their_instants() {
    three_parts(|_| {}).run(async |world| {
        let client = world.client(0);
        client.initialize().await;
        client.call(0, 0).await.within(10).await;
        let response = |event: &Event| matches!(event, Event::Appended { kind: FrameKind::Response, .. });
        assert_eq!(world.when(response), 4.0);
    });
}

#[test]
fn get_delivery_answers_202_and_uses_the_standalone_stream() {
    three_parts(|server| server.delivery = Delivery::GetStream).run(async |world| {
        let client = world.client(0);
        client.initialize().await;
        let mut stream = client.get().await;
        let answer = client.call(0, 0).await;
        assert_eq!(answer.status, 202);
        let (blocks, ended) = stream.within(10).await;
        assert_eq!((blocks.len(), ended), (4, false));
        assert_eq!(blocks[3].message()["id"], 0);
    });
}

#[test]
fn a_call_without_a_token_gets_its_response_only() {
    three_parts(|_| {}).run(async |world| {
        let client = world.client(0);
        client.initialize().await;
        let arguments = CallArguments { client: 0, call: 0, from_part: 0 };
        let mut call = message::call_tool(0, "", arguments);
        call["params"]["_meta"] = Value::Null;
        let (blocks, ended) = client.post(&call).await.within(10).await;
        assert_eq!((blocks.len(), ended), (1, true));
    });
}

#[test]
fn a_numeric_token_comes_back_as_a_number() {
    three_parts(|_| {}).run(async |world| {
        let client = world.client(0);
        client.initialize().await;
        let arguments = CallArguments { client: 0, call: 0, from_part: 0 };
        let mut call = message::call_tool(0, "", arguments);
        call["params"]["_meta"]["progressToken"] = 17.into();
        let block = client.post(&call).await.block().await.expect("a part");
        assert_eq!(block.message()["params"]["progressToken"], 17);
    });
}

#[test]
fn a_checkpointable_call_continues_and_another_starts_again() {
    for (checkpointable, parts) in [(true, 1), (false, 3)] {
        three_parts(|_| {}).tool(|tool| tool.checkpointable = checkpointable).run(async |world| {
            let client = world.client(0);
            client.initialize().await;
            let (blocks, _) = client.call(0, 2).await.within(10).await;
            assert_eq!(blocks.len(), parts + 1, "checkpointable: {checkpointable}");
            assert_eq!(part(&blocks[0]).progress as usize, 4 - parts);
        });
    }
}

#[test]
fn a_call_from_behind_its_last_part_gets_its_response() {
    three_parts(|_| {}).run(async |world| {
        let client = world.client(0);
        client.initialize().await;
        let (blocks, ended) = client.call(0, 3).await.within(10).await;
        assert_eq!((blocks.len(), ended), (1, true));
    });
}

#[test]
fn executions_are_counted_across_sessions() {
    three_parts(|_| {}).run(async |world| {
        let client = world.client(0);
        for _ in 0..2 {
            client.initialize().await;
            client.call(0, 0).await.within(10).await;
        }
        let counts: Vec<u32> = world
            .events()
            .iter()
            .filter_map(|event| match event {
                Event::ExecutionStarted { execution, .. } => Some(*execution),
                _ => None,
            })
            .collect();
        assert_eq!(counts, [1, 2]);
    });
}

#[test]
fn an_id_in_flight_cannot_be_used_again() {
    three_parts(|_| {}).run(async |world| {
        let client = world.client(0);
        client.initialize().await;
        let mut first = client.call(0, 0).await;
        let error = client.call(0, 0).await.json().await;
        assert_eq!(error["error"]["code"], -32600);
        assert_eq!(first.within(10).await.0.len(), 4);
        assert_eq!(client.call(0, 0).await.within(10).await.0.len(), 4);
    });
}

#[test]
fn a_cancelled_call_sends_no_response_and_its_stream_ends() {
    three_parts(|_| {}).run(async |world| {
        let client = world.client(0);
        client.initialize().await;
        let mut answer = client.call(9, 0).await;
        until(1.5).await;
        client.post(&message::cancelled(9, "enough")).await;
        let (blocks, ended) = answer.within(10).await;
        assert_eq!((blocks.len(), ended), (1, true));
        until(60.0).await;
        let appended = world.count(|event| matches!(event, Event::Appended { .. }));
        assert_eq!(appended, 1, "it does not run on");
        let ends = |how| world.count(|event| matches!(event, Event::ExecutionEnded { how: h, .. } if *h == how));
        assert_eq!((ends(ExecutionEnd::Cancelled), ends(ExecutionEnd::Finished)), (1, 0));
    });
}

#[test]
fn a_call_runs_on_while_nobody_listens() {
    three_parts(|_| {}).run(async |world| {
        let client = world.client(0);
        client.initialize().await;
        drop(client.call(0, 0).await);
        until(10.0).await;
        assert!(world.has(|event| matches!(event, Event::Detached { why, .. } if why == "peer-gone")));
        assert!(world.has(|event| matches!(event, Event::ExecutionEnded { how: ExecutionEnd::Finished, .. })));
        let (ids, ended) = client.resume("1").await.ids().await;
        assert_eq!((ids, ended), (vec!["2".into(), "3".into(), "4".into()], true));
    });
}

#[test]
fn delete_cancels_the_calls_of_the_session() {
    three_parts(|_| {}).run(async |world| {
        let client = world.client(0);
        client.initialize().await;
        let mut answer = client.call(0, 0).await;
        until(1.5).await;
        assert_eq!(client.send(client.request("DELETE"), "").await.status, 200);
        assert_eq!(client.get().await.status, 404);
        let (blocks, ended) = answer.within(10).await;
        assert_eq!((blocks.len(), ended), (1, true));
        assert!(world.has(|event| matches!(event, Event::ExecutionEnded { how: ExecutionEnd::Cancelled, .. })));
        assert!(!world.has(|event| matches!(event, Event::Discarded { .. })));
    });
}
