//! Tasks of the SDK's side of a run.
//!
//! The SDK starts its tasks with `tokio::spawn` and asks that what they hold is [`Send`]. A run lives on one thread and
//! shares by [`Rc`](std::rc::Rc), so what is handed to the SDK is wrapped: it may be sent, and is never sent anywhere.
//! The application runs on the same queue of the runtime as the SDK's tasks, as a program's own tasks do: what the SDK
//! hands over first is seen first.

use send_wrapper::SendWrapper;
use tokio::task::JoinHandle;

/// Starts `task` on this thread's runtime. It may be called from any task, also from outside of a local set.
pub fn spawn<F>(task: F) -> JoinHandle<()>
where
    F: Future<Output = ()> + 'static,
{
    tokio::spawn(SendWrapper::new(task))
}

/// Waits for `task`; a panic in it is a panic here.
pub async fn join(task: JoinHandle<()>) {
    if let Err(error) = task.await
        && error.is_panic()
    {
        std::panic::resume_unwind(error.into_panic());
    }
}
