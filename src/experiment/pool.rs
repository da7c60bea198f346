//! Runs in parallel, results in order.
//!
//! Each run gets a fresh thread: what a library keeps for each thread cannot leak from one run into the next, so seed k
//! alone and seed k as the k-th of a sweep are the same run. A panic ends its run and no other.

use std::any::Any;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, PoisonError, mpsc};
use std::thread;

/// How many results may wait for an earlier one, for each worker. It bounds the memory of a sweep, whatever its length.
const WINDOW_PER_WORKER: usize = 4;

/// The end of one run.
pub type Ended<T> = Result<T, Panicked>;

/// A run that panicked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Panicked {
    /// The panic's message.
    pub message: String,
}

/// Runs `jobs` on `workers` threads at a time and hands each result to `take`, in the order of the jobs.
///
/// `name` names a job's thread. No job starts after `stop` is set or `take` has said to break; those that run are awaited.
pub fn run_in_order<J, T>(
    jobs: &[J],
    workers: usize,
    stop: &AtomicBool,
    name: impl Fn(&J) -> String + Sync,
    work: impl Fn(&J) -> T + Sync,
    mut take: impl FnMut(&J, Ended<T>) -> ControlFlow<()>,
) where
    J: Sync,
    T: Send,
{
    let queue = Queue::new(jobs.len(), workers.max(1) * WINDOW_PER_WORKER);
    let (results, incoming) = mpsc::channel();
    thread::scope(|scope| {
        for _ in 0..workers.clamp(1, jobs.len().max(1)) {
            let (results, queue, name, work) = (results.clone(), &queue, &name, &work);
            scope.spawn(move || {
                while let Some(index) = queue.next(stop) {
                    let job = &jobs[index];
                    let ended = on_fresh_thread(name(job), || work(job));
                    if results.send((index, ended)).is_err() {
                        return;
                    }
                }
            });
        }
        drop(results);

        let mut waiting = BTreeMap::new();
        let mut delivered = 0;
        for (index, ended) in incoming {
            waiting.insert(index, ended);
            while let Some(ended) = waiting.remove(&delivered) {
                if take(&jobs[delivered], ended).is_break() {
                    queue.close();
                    return;
                }
                delivered += 1;
                queue.delivered(delivered);
            }
        }
    });
}

fn on_fresh_thread<T: Send>(name: String, work: impl FnOnce() -> T + Send) -> Ended<T> {
    thread::scope(|scope| {
        let handle = thread::Builder::new()
            .name(name)
            .spawn_scoped(scope, work)
            .map_err(|error| Panicked { message: format!("no thread could be started: {error}") })?;
        handle.join().map_err(|payload| Panicked { message: message_of(payload.as_ref()) })
    })
}

fn message_of(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<String>().map(String::as_str).or_else(|| payload.downcast_ref::<&str>().copied());
    text.unwrap_or("a panic without a message").to_owned()
}

/// Gives out job numbers, never further than a window ahead of the results that have been taken.
struct Queue {
    state: Mutex<QueueState>,
    moved: Condvar,
    window: usize,
}

struct QueueState {
    next: usize,
    end: usize,
    delivered: usize,
}

impl Queue {
    fn new(end: usize, window: usize) -> Queue {
        Queue { state: Mutex::new(QueueState { next: 0, end, delivered: 0 }), moved: Condvar::new(), window }
    }

    fn next(&self, stop: &AtomicBool) -> Option<usize> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let mut state = self
            .moved
            .wait_while(state, |state| state.next < state.end && state.next >= state.delivered + self.window)
            .unwrap_or_else(PoisonError::into_inner);
        if state.next >= state.end || stop.load(Ordering::Relaxed) {
            return None;
        }
        state.next += 1;
        Some(state.next - 1)
    }

    fn delivered(&self, delivered: usize) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).delivered = delivered;
        self.moved.notify_all();
    }

    fn close(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.end = state.next;
        drop(state);
        self.moved.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn collect(jobs: &[u32], workers: usize, work: impl Fn(&u32) -> u32 + Sync) -> Vec<Ended<u32>> {
        let mut taken = Vec::new();
        let stop = AtomicBool::new(false);
        run_in_order(
            jobs,
            workers,
            &stop,
            |job| format!("job {job}"),
            work,
            |_, ended| {
                taken.push(ended);
                ControlFlow::Continue(())
            },
        );
        taken
    }

    #[test]
    fn results_come_in_the_order_of_the_jobs_whatever_the_number_of_workers() {
        let jobs: Vec<u32> = (0..100).collect();
        for workers in [1, 2, 7] {
            // Later jobs are done sooner.
            let results =
                collect(&jobs, workers, |job| (0..(100 - job) * 1000).fold(*job, |sum, _| std::hint::black_box(sum)));
            assert_eq!(results, jobs.iter().copied().map(Ok).collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_panic_ends_its_own_run_only() {
        let results = collect(&[1, 2, 3], 2, |job| if *job == 2 { panic!("job {job} is ill") } else { *job });
        assert_eq!(results, [Ok(1), Err(Panicked { message: "job 2 is ill".to_owned() }), Ok(3)]);
    }

    #[test]
    fn no_job_starts_after_the_stop() {
        let stop = AtomicBool::new(false);
        let mut taken = 0;
        run_in_order(
            &[0; 1000],
            2,
            &stop,
            |_| "job".to_owned(),
            |_| (),
            |_, _| {
                taken += 1;
                stop.store(true, Ordering::Relaxed);
                ControlFlow::Continue(())
            },
        );
        assert!(taken <= 1 + 2 * WINDOW_PER_WORKER, "{taken} jobs ran though the first one asked for the stop");
    }

    #[test]
    fn breaking_off_ends_the_sweep_while_workers_wait_for_room() {
        let stop = AtomicBool::new(false);
        let mut taken = 0;
        run_in_order(
            &[0; 1000],
            3,
            &stop,
            |_| "job".to_owned(),
            |_| (),
            |_, _| {
                taken += 1;
                ControlFlow::Break(())
            },
        );
        assert_eq!(taken, 1);
    }

    #[test]
    fn each_run_has_a_thread_of_its_own() {
        thread_local!(static RUNS: std::cell::Cell<u32> = const { std::cell::Cell::new(0) });
        let results = collect(&[0; 20], 2, |_| RUNS.with(|runs| runs.replace(runs.get() + 1)));
        assert!(results.iter().all(|earlier_runs| *earlier_runs == Ok(0)));
    }

    /// The order of the standard library's hash maps is drawn once a thread: in a run that is inside the simulation, it
    /// is the seed's, whoever ran before on however many workers.
    #[cfg(all(feature = "rmcp", target_os = "linux", target_env = "gnu", target_pointer_width = "64"))]
    #[test]
    fn runs_of_one_seed_see_hash_maps_in_one_order() {
        use crate::world::draw::{Draws, Purpose};
        use crate::world::interpose;

        #[expect(clippy::disallowed_types, reason = "what a library inside a run may use")]
        fn order(seed: u64) -> u32 {
            let entropy = Draws::new("pool", seed).stream(Purpose::OperatingSystem, 0);
            let _inside = interpose::enter(|| None, entropy);
            let set: std::collections::HashSet<u32> = (0..100).collect();
            set.into_iter().fold(0, |sum, key| sum.wrapping_mul(31).wrapping_add(key))
        }
        let jobs: Vec<u32> = (0..40).map(|job| job % 2).collect();
        for workers in [1, 4] {
            let orders = collect(&jobs, workers, |job| order(u64::from(*job)));
            assert_ne!(orders[0], orders[1]);
            for (job, found) in orders.iter().enumerate() {
                assert_eq!(*found, orders[job % 2], "job {job}, {workers} workers");
            }
        }
    }
}
