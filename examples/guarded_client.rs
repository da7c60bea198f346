//! A client of the official Rust SDK whose lost calls end instead of hanging: the SDK's stock HTTP client, guarded.
//!
//! ```text
//! cargo run --example guarded_client -- URL            # list the tools
//! cargo run --example guarded_client -- URL TOOL JSON  # call one, with JSON as its arguments (`{}` if left out)
//! ```
//!
//! Answers go to stdout, what the guard finds to stderr. A call whose response is lost is called again, at most
//! [`ATTEMPTS`] times in all: whether a tool may run twice is for the program to know, and neither the SDK nor the guard
//! does it by itself. This build has no TLS; a program that needs `https` turns on the SDK's feature `reqwest`.

use anyhow::{Context, Result, bail};
use desync_sim::cursor::{Grammar, Rules};
use desync_sim::mcp::sdk::guard::{Guard, LOST};
use rmcp::ServiceError;
use rmcp::model::{CallToolRequestParams, CallToolResult, JsonObject};
use rmcp::service::{Peer, RoleClient, RunningService, ServiceExt};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;

/// How often a call is sent before its loss is the program's.
const ATTEMPTS: u32 = 3;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let url = arguments.next().context("usage: guarded_client URL [TOOL [JSON]]")?;

    let mut client = connect(url).await?;
    match arguments.next() {
        None => {
            for tool in client.list_all_tools().await? {
                println!("{}: {}", tool.name, tool.description.unwrap_or_default());
            }
        }
        Some(tool) => {
            let json = arguments.next().unwrap_or_else(|| "{}".to_owned());
            let json: JsonObject = serde_json::from_str(&json).context("the arguments are no JSON object")?;
            let result = call(client.peer(), CallToolRequestParams::new(tool).with_arguments(json)).await?;
            println!("{}", serde_json::to_string_pretty(&result)?);
        }
    }
    client.close().await?;
    Ok(())
}

/// The SDK's client, its stock HTTP client inside the guard.
pub async fn connect(url: String) -> Result<RunningService<RoleClient, ()>> {
    // What the server is known to do: its ids are those of the SDK's server, it repeats the event that a cursor names,
    // and it answers the resume of a stream that it has forgotten with nothing. Three times nothing is a loss.
    let rules = Rules { tolerate_inclusive: true, empty_legs: Some(2), ..Rules::default() };
    let guard = Guard::new(stock_client()?, Grammar::SeqStream, rules)
        .observed(|finding| eprintln!("{finding}"))
        .refused_where(|error| error.status().is_some_and(|status| matches!(status.as_u16(), 400 | 404 | 410)));
    let config = StreamableHttpClientTransportConfig::with_uri(url);
    Ok(().serve(StreamableHttpClientTransport::with_client(guard, config)).await?)
}

/// The client that the SDK would make for itself: without a pool, in which its streams would stall.
pub fn stock_client() -> Result<reqwest::Client> {
    Ok(reqwest::Client::builder().pool_max_idle_per_host(0).build()?)
}

/// Calls a tool, and calls it again where the response is lost. The SDK opens a new session for that by itself.
pub async fn call(client: &Peer<RoleClient>, request: CallToolRequestParams) -> Result<CallToolResult> {
    for attempt in 1..=ATTEMPTS {
        match client.call_tool(request.clone()).await {
            Err(ServiceError::McpError(error)) if error.code.0 == LOST => {
                eprintln!("attempt {attempt} of {ATTEMPTS}: {}", error.message);
            }
            other => return Ok(other?),
        }
    }
    bail!("the response was lost {ATTEMPTS} times")
}
