//! A dial for tasks that no local set runs.

use std::io;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};
use tokio::task::spawn_local;
use tokio::time::sleep;

use crate::mcp::net::Dial;

/// Where connections are asked for: one answer for each.
type Asked<Io> = mpsc::UnboundedSender<oneshot::Sender<io::Result<Io>>>;

/// A dial whose connections a task of the local set makes, a millisecond apart from the asking: in no time at all a peer
/// that breaks every connection at once would be asked for ever within one instant.
pub struct Local<D: Dial> {
    asked: Asked<D::Io>,
}

impl<D: Dial> Clone for Local<D> {
    fn clone(&self) -> Local<D> {
        Local { asked: self.asked.clone() }
    }
}

impl<D: Dial> Local<D> {
    pub fn new(dial: D) -> Local<D> {
        let (asked, mut asking) = mpsc::unbounded_channel::<oneshot::Sender<io::Result<D::Io>>>();
        spawn_local(async move {
            while let Some(answer) = asking.recv().await {
                let dial = dial.clone();
                spawn_local(async move {
                    sleep(Duration::from_millis(1)).await;
                    let _ = answer.send(dial.dial().await);
                });
            }
        });
        Local { asked }
    }
}

impl<D: Dial> Dial for Local<D> {
    type Io = D::Io;

    async fn dial(&self) -> io::Result<D::Io> {
        let (answer, answered) = oneshot::channel();
        let refused = || io::Error::from(io::ErrorKind::ConnectionRefused);
        self.asked.send(answer).map_err(|_| refused())?;
        answered.await.map_err(|_| refused())?
    }
}
