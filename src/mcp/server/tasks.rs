//! The tasks of a server: spawned on the local set, stopped one by one or together.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::future::Future;
use std::rc::Rc;

use tokio::task::{JoinHandle, spawn_local};

/// A set of running tasks. A task leaves it when it ends.
#[derive(Clone, Default)]
pub struct Tasks {
    set: Rc<RefCell<Set>>,
}

#[derive(Default)]
struct Set {
    next: u64,
    running: BTreeMap<u64, JoinHandle<()>>,
}

impl Tasks {
    /// Spawns what `task` makes of its number, and returns the number.
    pub fn spawn<F: Future<Output = ()> + 'static>(&self, task: impl FnOnce(u64) -> F) -> u64 {
        let number = {
            let mut set = self.set.borrow_mut();
            set.next += 1;
            set.next
        };
        let future = task(number);
        let tasks = self.clone();
        let handle = spawn_local(async move {
            future.await;
            tasks.set.borrow_mut().running.remove(&number);
        });
        self.set.borrow_mut().running.insert(number, handle);
        number
    }

    /// Stops one task: it runs no further, and its future is dropped before time passes.
    pub fn abort(&self, number: u64) {
        if let Some(handle) = self.set.borrow_mut().running.remove(&number) {
            handle.abort();
        }
    }

    /// Stops all of them.
    pub fn abort_all(&self) {
        for handle in std::mem::take(&mut self.set.borrow_mut().running).into_values() {
            handle.abort();
        }
    }
}
