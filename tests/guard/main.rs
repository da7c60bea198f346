//! The guard around the SDK's stock HTTP client, as `examples/guarded_client.rs` puts it there, against a server on the
//! loopback that loses a stream. The only tests on real sockets and in real time: the stock client has no others.

#[expect(dead_code, reason = "the example's `main` reads the command line")]
#[path = "../../examples/guarded_client.rs"]
mod guarded_client;
mod server;

use std::time::Duration;

use desync_sim::mcp::sdk::guard::LOST;
use rmcp::ServiceError;
use rmcp::model::CallToolRequestParams;
use rmcp::service::ServiceExt;
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use tokio::time::timeout;

use server::{Resume, Server};

/// Long against everything on the loopback, short against patience.
const WHILE: Duration = Duration::from_secs(1);

fn call(tool: &'static str) -> CallToolRequestParams {
    CallToolRequestParams::new(tool)
}

#[tokio::test]
async fn without_a_guard_the_call_hangs() {
    for resume in [Resume::Restarted, Resume::Empty] {
        let (server, url) = Server::start(resume).await;
        let config = StreamableHttpClientTransportConfig::with_uri(url);
        let stock = guarded_client::stock_client().unwrap();
        let client = ().serve(StreamableHttpClientTransport::with_client(stock, config)).await.unwrap();
        let outcome = timeout(WHILE, client.call_tool(call("lost"))).await;
        assert!(outcome.is_err(), "{resume:?}: {outcome:?}");
        assert!(server.count("GET s1") > 1, "{resume:?}: the stream was resumed");
    }
}

#[tokio::test]
async fn the_guard_fails_the_lost_call_alone_and_the_next_request_opens_a_session() {
    for resume in [Resume::Restarted, Resume::Empty] {
        let (server, url) = Server::start(resume).await;
        let client = guarded_client::connect(url).await.unwrap();
        let peer = client.peer().clone();
        let slow = tokio::spawn(async move { peer.call_tool(call("slow")).await });
        while server.count("POST s1 tools/call slow") == 0 {
            tokio::task::yield_now().await;
        }

        let outcome = timeout(WHILE, client.call_tool(call("lost"))).await.expect("the guard ends the call");
        let Err(ServiceError::McpError(error)) = outcome else { panic!("{resume:?}: {outcome:?}") };
        assert_eq!(error.code.0, LOST, "{resume:?}: {error:?}");

        assert!(!slow.is_finished(), "{resume:?}: the other call goes on");
        server.finish.notify_one();
        let outcome = timeout(WHILE, slow).await.expect("the other call ends").unwrap();
        assert!(outcome.is_ok(), "{resume:?}: {outcome:?}");
        assert_eq!(server.count("POST - initialize"), 1, "{resume:?}");

        let outcome = timeout(WHILE, client.call_tool(call("lost"))).await.expect("the new session answers");
        assert!(outcome.is_ok(), "{resume:?}: {outcome:?}");
        assert_eq!(server.count("POST - initialize"), 2, "{resume:?}");
        assert_eq!(server.count("POST s2 tools/call lost"), 1, "{resume:?}");
    }
}

#[tokio::test]
async fn the_example_calls_again() {
    let (server, url) = Server::start(Resume::Restarted).await;
    let client = guarded_client::connect(url).await.unwrap();
    assert_eq!(client.list_all_tools().await.unwrap()[0].name, "slow");
    let outcome = timeout(WHILE, guarded_client::call(client.peer(), call("lost"))).await.expect("an answer");
    assert!(outcome.is_ok(), "{outcome:?}");
    assert_eq!((server.count("POST s1 tools/call lost"), server.count("POST s2 tools/call lost")), (1, 1));
}
