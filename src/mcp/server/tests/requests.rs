//! Statuses and JSON-RPC errors.

use http::Request;
use serde_json::json;

use super::*;
use crate::mcp::wire::message::TOOL;

#[test]
fn refusals_have_the_status_of_the_specification() {
    struct Case {
        name: &'static str,
        change: fn(&Client, http::request::Builder) -> http::request::Builder,
        method: &'static str,
        status: u16,
    }
    let cases = [
        Case { name: "another path", change: |_, request| request.uri("/other"), method: "GET", status: 404 },
        Case { name: "another method", change: |_, request| request, method: "PUT", status: 405 },
        Case {
            name: "an unknown session",
            change: |_, request| request.header(SESSION_ID, "nobody"),
            method: "GET",
            status: 404,
        },
        Case {
            name: "an unknown session to delete",
            change: |_, request| request.header(SESSION_ID, "nobody"),
            method: "DELETE",
            status: 404,
        },
        Case { name: "no session", change: |_, request| request, method: "GET", status: 400 },
        Case {
            name: "a session key that is no visible ASCII",
            change: |_, request| request.header(SESSION_ID, "a b"),
            method: "GET",
            status: 400,
        },
        Case {
            name: "an unknown revision",
            change: |client, request| {
                request
                    .header(SESSION_ID, client.key.borrow().clone().expect("a key"))
                    .header("mcp-protocol-version", "1999-01-01")
            },
            method: "GET",
            status: 400,
        },
        Case {
            name: "a known revision",
            change: |client, request| {
                request
                    .header(SESSION_ID, client.key.borrow().clone().expect("a key"))
                    .header("mcp-protocol-version", "2025-11-25")
            },
            method: "GET",
            status: 200,
        },
    ];
    Setup::default().run(async |world| {
        let client = world.client(0);
        client.initialize().await;
        for case in cases {
            let request = Request::builder().uri("/mcp").method(case.method).header("accept", "text/event-stream");
            let answer = client.send((case.change)(&client, request), "").await;
            assert_eq!(answer.status, case.status, "{}", case.name);
        }
    });
}

#[test]
fn a_client_must_accept_what_it_may_be_answered_with() {
    Setup::default().run(async |world| {
        let client = world.client(0);
        let key = client.initialize().await;
        for (method, accept, status) in [
            ("POST", "application/json", 406),
            ("POST", "text/event-stream", 406),
            ("POST", "application/json;q=0.9, TEXT/event-stream", 200),
            ("POST", "*/*", 200),
            ("GET", "application/json", 406),
            ("GET", "text/*", 200),
        ] {
            let request =
                Request::builder().uri("/mcp").method(method).header(SESSION_ID, &key).header("accept", accept);
            let body = message::list_tools(1).to_string();
            let answer = client.send(request, body).await;
            assert_eq!(answer.status, status, "{method} {accept}");
        }
    });
}

#[test]
fn bodies_that_are_no_messages_are_refused_with_a_code() {
    Setup::default().run(async |world| {
        let client = world.client(0);
        client.initialize().await;
        for (body, status, code) in [
            ("".to_owned(), 400, -32700),
            ("{\"jsonrpc\"".to_owned(), 400, -32700),
            ("\u{0}\u{1}".to_owned(), 400, -32700),
            ("[1, 2]".to_owned(), 400, -32600),
            ("{}".to_owned(), 400, -32600),
            ("[".repeat(100_000), 400, -32700),
            (" ".repeat(1024 * 1024 + 1), 413, -32000),
        ] {
            let start: String = body.chars().take(20).collect();
            let answer = client.send(client.request("POST"), body).await;
            assert_eq!(answer.status, status, "{start:?}");
            assert_eq!(answer.json().await["error"]["code"], code, "{start:?}");
        }
    });
}

#[test]
fn methods_are_answered_or_named_as_unknown() {
    Setup::default().run(async |world| {
        let client = world.client(0);
        client.initialize().await;
        let tools = client.post(&message::list_tools(1)).await.json().await;
        assert_eq!(tools["result"]["tools"][0]["name"], TOOL);
        let ping = json!({"jsonrpc": "2.0", "id": "p", "method": "ping"});
        let pong = client.post(&ping).await.json().await;
        assert_eq!(pong, json!({"jsonrpc": "2.0", "id": "p", "result": {}}));
        let unknown = json!({"jsonrpc": "2.0", "id": 2, "method": "resources/list"});
        let error = client.post(&unknown).await.json().await;
        assert_eq!((&error["id"], &error["error"]["code"]), (&json!(2), &json!(-32601)));
    });
}

#[test]
fn notifications_and_responses_are_accepted_without_a_body() {
    Setup::default().run(async |world| {
        let client = world.client(0);
        client.initialize().await;
        for message in [
            message::initialized(),
            json!({"jsonrpc": "2.0", "method": "notifications/roots/list_changed"}),
            message::cancelled(99, "no such call"),
            json!({"jsonrpc": "2.0", "method": "notifications/cancelled"}),
            json!({"jsonrpc": "2.0", "id": 1, "result": {}}),
        ] {
            let answer = client.post(&message).await;
            assert_eq!(answer.status, 202, "{message}");
            let body = answer.body.collect().await.expect("a body").to_bytes();
            assert!(body.is_empty(), "{message}");
        }
    });
}

#[test]
fn calls_with_wrong_parameters_are_refused_and_start_nothing() {
    let call = |name: &str, arguments: Value, token: Value| {
        json!({"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": {
            "name": name, "arguments": arguments, "_meta": {"progressToken": token}}})
    };
    let fine = json!({"client": 0, "call": 0, "from_part": 0});
    let huge = json!({"client": 1 << 24, "call": 0, "from_part": 0});
    let late = json!({"client": 0, "call": 0, "from_part": 9});
    let cases = [
        call("other", fine.clone(), json!("t")),
        call(TOOL, json!({}), json!("t")),
        call(TOOL, json!({"client": -1, "call": 0, "from_part": 0}), json!("t")),
        call(TOOL, huge, json!("t")),
        call(TOOL, late, json!("t")),
        call(TOOL, fine, json!([])),
        json!({"jsonrpc": "2.0", "id": 5, "method": "tools/call"}),
    ];
    Setup::default().run(async |world| {
        let client = world.client(0);
        client.initialize().await;
        for case in &cases {
            let error = client.post(case).await.json().await;
            assert_eq!(error["error"]["code"], -32602, "{case}");
        }
        assert!(!world.has(|event| matches!(event, Event::ExecutionStarted { .. })));
    });
}

#[test]
fn an_untagged_request_belongs_to_a_stranger() {
    Setup::default().run(async |world| {
        let io = world.pipe.dial().expect("somebody listens");
        let (mut sender, connection) =
            hyper::client::conn::http1::handshake(TokioIo::new(io)).await.expect("a connection");
        spawn_local(connection);
        let request = Request::post("/mcp")
            .header("host", "server")
            .header("accept", "*/*")
            .body(Full::new(Bytes::from(message::initialize(0).to_string())))
            .expect("a request");
        let response = sender.send_request(request).await.expect("an answer");
        assert_eq!(response.status(), 200);
        assert!(world.has(|event| matches!(event, Event::SessionOpened { owner: 1_000_000, .. })));
    });
}

#[test]
fn garbage_on_a_connection_ends_that_connection_only() {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    Setup::default().run(async |world| {
        for garbage in [
            &b"\x16\x03\x01\x02\x00\x01\x00"[..],
            b"GET\r\n\r\n",
            b"POST /mcp HTTP/1.1\r\ncontent-length: minus one\r\n\r\n",
            b"POST /mcp HTTP/1.1\r\nhost: s\r\naccept: */*\r\ncontent-length: 9\r\n\r\nshort",
        ] {
            let mut io = world.pipe.dial().expect("somebody listens");
            io.write_all(garbage).await.expect("written");
            io.shutdown().await.expect("shut down");
            let mut answer = Vec::new();
            io.read_to_end(&mut answer).await.expect("closed");
            assert!(!answer.starts_with(b"HTTP/1.1 200"), "{garbage:?}");
        }
        world.client(0).initialize().await;
    });
}

#[test]
fn one_connection_serves_many_requests() {
    Setup::default().run(async |world| {
        let client = world.client(0);
        let key = client.initialize().await;
        let io = world.pipe.dial().expect("somebody listens");
        let (mut sender, connection) =
            hyper::client::conn::http1::handshake(TokioIo::new(io)).await.expect("a connection");
        spawn_local(connection);
        for id in 1..=3 {
            let request = Request::post("/mcp")
                .header("host", "server")
                .header("accept", "*/*")
                .header(SESSION_ID, &key)
                .body(Full::new(Bytes::from(message::list_tools(id).to_string())))
                .expect("a request");
            let response = sender.send_request(request).await.expect("an answer");
            assert_eq!(Answer::new(response).json().await["id"], id);
        }
    });
}

#[test]
fn the_same_story_is_told_the_same_way_twice() {
    let told = || {
        let events = RefCell::new(Vec::new());
        Setup::default().run(async |world| {
            let client = world.client(0);
            client.initialize().await;
            let _leg = client.get().await;
            client.call(0, 0).await.within(60).await;
            events.replace(world.events());
        });
        events.into_inner()
    };
    assert!(told().len() > 10);
    assert_eq!(told(), told());
}
