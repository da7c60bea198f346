//! Simulated clock and entropy for code that asks the operating system for them.
//!
//! The official Rust SDK reads `std::time::Instant` for its keep-alive timers and keeps hash maps and random session
//! ids. Neither can be told otherwise from outside, so this module answers in the C library's place: the executable's
//! own `clock_gettime` and `getrandom` come before the shared library's, and `std` calls both by name. They answer
//! from the simulation on a thread that is between [`enter`] and the drop of what it gave, and pass through to the
//! system on every other thread: runs proceed side by side, and progress bars keep real time.
//!
//! Out of reach: code that makes the system call itself, that reads the processor's counter, or that starts threads
//! of its own. Nothing inside a run does. Clocks that count processor time always pass through.
//!
//! This is the only module of the crate with `unsafe`: it defines two functions of the C library.

#![expect(unsafe_code, reason = "it defines two functions of the C library")]

use std::cell::{Cell, RefCell};
use std::marker::PhantomData;
use std::sync::OnceLock;
use std::time::Duration;

use super::draw::Stream;

/// What the thread's operating system pretends to be.
struct Simulation {
    clock: fn() -> Option<Duration>,
    /// The last answer of `clock`: it stands where there is no new one.
    last: Duration,
    entropy: Stream,
}

thread_local! {
    static SIMULATION: RefCell<Option<Simulation>> = const { RefCell::new(None) };
    /// Whether the thread is asking the simulation already: its clock must not ask for itself.
    static ASKING: Cell<bool> = const { Cell::new(false) };
}

/// While it lives, this thread's clock and entropy are the simulation's. Its drop brings back what was before.
#[must_use = "the thread leaves the simulation where this is dropped"]
pub struct Inside {
    before: Option<Simulation>,
    /// It belongs to its thread.
    not_send: PhantomData<*const ()>,
}

/// From now on, and until the answer is dropped, `clock_gettime` on this thread reads `clock`, and `getrandom` on this
/// thread reads `entropy`. Where `clock` has no answer, the last one stands.
pub fn enter(clock: fn() -> Option<Duration>, entropy: Stream) -> Inside {
    let inside = Simulation { clock, last: Duration::ZERO, entropy };
    let before = SIMULATION.with(|simulation| simulation.borrow_mut().replace(inside));
    Inside { before, not_send: PhantomData }
}

impl Drop for Inside {
    fn drop(&mut self) {
        SIMULATION.with(|simulation| *simulation.borrow_mut() = self.before.take());
    }
}

/// Whether this platform and this binary answer with simulated time and entropy inside a run: tried out once, on a
/// thread of its own.
pub fn is_supported() -> bool {
    static SUPPORTED: OnceLock<bool> = OnceLock::new();
    *SUPPORTED.get_or_init(|| {
        #[expect(clippy::disallowed_methods, reason = "outside every run, and the thread's state must be fresh")]
        let trial = std::thread::spawn(trial);
        trial.join().unwrap_or(false)
    })
}

/// Whether time stands still and two hash-map keys are what the same entropy made them before.
#[expect(clippy::disallowed_methods, reason = "the clocks under trial")]
fn trial() -> bool {
    use super::draw::{Draws, Purpose};
    const NOON: Duration = Duration::from_secs(43_200);
    let entropy = || Draws::new("interpose", 0).stream(Purpose::OperatingSystem, 0);
    let _inside = enter(|| Some(NOON), entropy());
    let (first, second) = (std::time::Instant::now(), std::time::Instant::now());
    let today = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).ok();
    let time = first == second && today == Some(Duration::from_secs(super::net::EPOCH_S) + NOON);
    time && answered(2) == answered(2)
}

/// What a fresh simulation answers to so many words of entropy.
fn answered(words: usize) -> Vec<u64> {
    use super::draw::{Draws, Purpose};
    let _inside = enter(|| None, Draws::new("interpose", 0).stream(Purpose::OperatingSystem, 0));
    (0..words).map(|_| system::entropy()).collect()
}

/// Asks the thread's simulation; none where there is none, or where the simulation itself is asking.
fn ask<T>(question: impl FnOnce(&mut Simulation) -> T) -> Option<T> {
    // A thread that is being taken down has no simulation any more.
    if ASKING.try_with(|asking| asking.replace(true)).ok()? {
        return None;
    }
    let answer =
        SIMULATION.try_with(|simulation| simulation.try_borrow_mut().ok()?.as_mut().map(question)).ok().flatten();
    let _ = ASKING.try_with(|asking| asking.set(false));
    answer
}

/// The time since the start of the thread's simulation.
fn elapsed() -> Option<Duration> {
    ask(|simulation| {
        if let Some(now) = (simulation.clock)() {
            simulation.last = now;
        }
        simulation.last
    })
}

/// Fills `buffer` from the thread's simulation. Whether there is one.
fn fill(buffer: &mut [u8]) -> bool {
    ask(|simulation| {
        for chunk in buffer.chunks_mut(8) {
            let bits = simulation.entropy.bits().to_le_bytes();
            chunk.copy_from_slice(&bits[..chunk.len()]);
        }
    })
    .is_some()
}

#[cfg(all(target_os = "linux", target_env = "gnu", target_pointer_width = "64"))]
mod system {
    //! The C library's functions, in its place.

    use std::ffi::{CStr, c_int, c_uint, c_void};
    use std::sync::atomic::{AtomicPtr, Ordering};
    use std::time::Duration;

    use libc::{clockid_t, size_t, ssize_t, timespec};

    use crate::world::net::EPOCH_S;

    /// What the monotonic clocks read at the start of a simulation: far enough from zero that a program may subtract.
    const BOOT: Duration = Duration::from_secs(86_400);

    type ClockGettime = unsafe extern "C" fn(clockid_t, *mut timespec) -> c_int;
    type Getrandom = unsafe extern "C" fn(*mut c_void, size_t, c_uint) -> ssize_t;

    /// Where the C library's own functions are, once they have been looked for.
    static CLOCK_GETTIME: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());
    static GETRANDOM: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());

    /// The function called `name` that comes after this executable's own.
    fn next(found: &AtomicPtr<c_void>, name: &CStr) -> *mut c_void {
        let known = found.load(Ordering::Relaxed);
        if !known.is_null() {
            return known;
        }
        // SAFETY: `name` ends with a zero byte. The answer is an address or null.
        let address = unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr()) };
        found.store(address, Ordering::Relaxed);
        address
    }

    /// `clock_gettime(2)`.
    ///
    /// # Safety
    /// As the C library says: `time` is null or points to a `timespec` that may be written.
    #[unsafe(no_mangle)]
    unsafe extern "C" fn clock_gettime(clock: clockid_t, time: *mut timespec) -> c_int {
        let start = match clock {
            libc::CLOCK_REALTIME | libc::CLOCK_REALTIME_COARSE => Some(Duration::from_secs(EPOCH_S)),
            libc::CLOCK_MONOTONIC | libc::CLOCK_MONOTONIC_COARSE | libc::CLOCK_MONOTONIC_RAW | libc::CLOCK_BOOTTIME => {
                Some(BOOT)
            }
            _ => None,
        };
        if let Some(start) = start
            && !time.is_null()
            && let Some(elapsed) = super::elapsed()
        {
            let now = start + elapsed;
            // SAFETY: not null, and the caller vouches for the rest.
            unsafe {
                (*time).tv_sec = now.as_secs() as libc::time_t;
                (*time).tv_nsec = now.subsec_nanos().into();
            }
            return 0;
        }
        let address = next(&CLOCK_GETTIME, c"clock_gettime");
        if address.is_null() {
            // SAFETY: the same call, made to the kernel.
            return unsafe { libc::syscall(libc::SYS_clock_gettime, clock, time) as c_int };
        }
        // SAFETY: the C library's function of this name has this type.
        let function: ClockGettime = unsafe { std::mem::transmute(address) };
        // SAFETY: the caller's promise, passed on.
        unsafe { function(clock, time) }
    }

    /// `getrandom(2)`.
    ///
    /// # Safety
    /// As the C library says: `length` bytes from `buffer` on may be written.
    #[unsafe(no_mangle)]
    unsafe extern "C" fn getrandom(buffer: *mut c_void, length: size_t, flags: c_uint) -> ssize_t {
        if !buffer.is_null() {
            // SAFETY: not null, and the caller vouches for the length.
            let bytes = unsafe { std::slice::from_raw_parts_mut(buffer.cast::<u8>(), length) };
            if super::fill(bytes) {
                return length as ssize_t;
            }
        }
        let address = next(&GETRANDOM, c"getrandom");
        if address.is_null() {
            // SAFETY: the same call, made to the kernel.
            return unsafe { libc::syscall(libc::SYS_getrandom, buffer, length, flags) as ssize_t };
        }
        // SAFETY: the C library's function of this name has this type.
        let function: Getrandom = unsafe { std::mem::transmute(address) };
        // SAFETY: the caller's promise, passed on.
        unsafe { function(buffer, length, flags) }
    }

    /// One word of entropy, asked for as any program does.
    pub(super) fn entropy() -> u64 {
        let mut word = [0; 8];
        // SAFETY: the buffer is as long as said.
        unsafe { libc::getrandom(word.as_mut_ptr().cast(), word.len(), 0) };
        u64::from_le_bytes(word)
    }
}

#[cfg(not(all(target_os = "linux", target_env = "gnu", target_pointer_width = "64")))]
mod system {
    //! Nothing is put in the system's place here.

    /// Different each time, so that the trial fails.
    pub(super) fn entropy() -> u64 {
        use std::sync::atomic::{AtomicU64, Ordering};
        static NEXT: AtomicU64 = AtomicU64::new(0);
        NEXT.fetch_add(1, Ordering::Relaxed)
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, clippy::disallowed_types, reason = "what a library inside a run may use")]
mod tests {
    use std::collections::{BTreeSet, HashSet};
    use std::sync::Barrier;
    use std::thread;
    use std::time::{Instant, SystemTime, UNIX_EPOCH};

    use super::*;
    use crate::world::draw::{Draws, Purpose};

    const HOUR: Duration = Duration::from_secs(3600);

    fn entropy(seed: u64) -> Stream {
        Draws::new("interpose", seed).stream(Purpose::OperatingSystem, 0)
    }

    fn on_fresh_thread<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
        thread::spawn(work).join().unwrap()
    }

    fn since_1970() -> Duration {
        SystemTime::now().duration_since(UNIX_EPOCH).unwrap()
    }

    /// The order in which a hash set gives what was put into it.
    fn order(seed: u64) -> Vec<u32> {
        on_fresh_thread(move || {
            let _inside = enter(|| None, entropy(seed));
            (0..100).collect::<HashSet<u32>>().into_iter().collect()
        })
    }

    #[test]
    fn it_works_here() {
        assert!(is_supported());
    }

    #[test]
    fn a_thread_inside_reads_the_simulation_and_others_the_system() {
        let _inside = enter(|| Some(HOUR), entropy(1));
        let simulated = since_1970();
        assert_eq!(simulated, Duration::from_secs(super::super::net::EPOCH_S) + HOUR);
        let start = Instant::now();
        let (other, outside) = on_fresh_thread(|| {
            let outside = since_1970();
            let _inside = enter(|| Some(HOUR * 2), entropy(1));
            (since_1970(), outside)
        });
        assert_eq!(other, simulated + HOUR);
        assert!(outside > other, "the system's clock is past 2023");
        assert_eq!(start.elapsed(), Duration::ZERO, "no time passes but the simulation's");
    }

    #[test]
    fn leaving_brings_back_what_was_before() {
        let real = since_1970();
        let outer = enter(|| Some(HOUR), entropy(1));
        let at_outer = since_1970();
        let inner = enter(|| Some(HOUR * 3), entropy(2));
        assert_eq!(since_1970(), at_outer + HOUR * 2);
        drop(inner);
        assert_eq!(since_1970(), at_outer);
        drop(outer);
        assert!(since_1970() >= real);
    }

    #[test]
    fn without_an_answer_the_last_one_stands() {
        thread_local! {
            static NOW: Cell<Option<Duration>> = const { Cell::new(Some(HOUR)) };
        }
        let _inside = enter(|| NOW.get(), entropy(1));
        let before = Instant::now();
        NOW.set(None);
        assert_eq!(Instant::now(), before);
        NOW.set(Some(HOUR * 2));
        assert_eq!(before.elapsed(), HOUR);
    }

    #[test]
    fn a_clock_that_asks_for_itself_is_answered_by_the_system() {
        let _inside = enter(|| Some(HOUR * u32::from(since_1970() > HOUR)), entropy(1));
        assert_eq!(since_1970(), Duration::from_secs(super::super::net::EPOCH_S) + HOUR);
    }

    #[test]
    fn the_same_entropy_gives_the_same_hash_order_on_a_fresh_thread() {
        assert_eq!(order(1), order(1));
        assert_ne!(order(1), order(2));
    }

    #[test]
    fn any_length_is_filled() {
        let _inside = enter(|| None, entropy(1));
        for length in [0, 1, 7, 8, 9, 256] {
            let mut bytes = vec![0; length];
            assert!(fill(&mut bytes));
            assert!(length < 8 || bytes.iter().any(|byte| *byte != 0));
        }
    }

    /// Two runs and the program around them, side by side, each reading its clock while the others read theirs.
    #[test]
    fn threads_inside_different_runs_and_outside_read_their_own_clocks_at_the_same_time() {
        const READINGS: usize = 10_000;
        let epoch = Duration::from_secs(super::super::net::EPOCH_S);
        let together = Barrier::new(3);
        let read = |clock: Option<fn() -> Option<Duration>>| {
            let _inside = clock.map(|clock| enter(clock, entropy(1)));
            together.wait();
            (0..READINGS).map(|_| since_1970()).collect::<BTreeSet<_>>()
        };
        thread::scope(|scope| {
            let one = scope.spawn(|| read(Some(|| Some(HOUR))));
            let other = scope.spawn(|| read(Some(|| Some(HOUR * 5))));
            let outside = read(None);
            assert_eq!(one.join().unwrap(), BTreeSet::from([epoch + HOUR]));
            assert_eq!(other.join().unwrap(), BTreeSet::from([epoch + HOUR * 5]));
            assert!(outside.len() > 1 && outside.first() > Some(&(epoch + HOUR * 24)), "the system's time goes on");
        });
    }

    #[test]
    fn entropy_is_the_same_for_the_same_seed_and_another_for_another_seed_or_purpose() {
        let words = |entropy: Stream| {
            let _inside = enter(|| None, entropy);
            [(); 4].map(|()| system::entropy())
        };
        let of = |seed, purpose, entity| words(Draws::new("interpose", seed).stream(purpose, entity));
        let here = of(1, Purpose::OperatingSystem, 0);
        assert_eq!(here, of(1, Purpose::OperatingSystem, 0));
        for other in [
            of(2, Purpose::OperatingSystem, 0),
            of(1, Purpose::RetryJitter, 0),
            of(1, Purpose::OperatingSystem, 1),
            words(Draws::new("another", 1).stream(Purpose::OperatingSystem, 0)),
            [(); 4].map(|()| system::entropy()),
        ] {
            assert_ne!(here, other);
        }
    }

    /// Every map of a thread gets keys of its own, and all of them are those of the seed.
    #[test]
    fn maps_that_are_made_one_after_the_other_are_the_same_on_every_fresh_thread() {
        let orders = |seed| {
            on_fresh_thread(move || {
                let _inside = enter(|| None, entropy(seed));
                [(); 3].map(|()| (0..50).collect::<HashSet<u32>>().into_iter().collect::<Vec<u32>>())
            })
        };
        let [first, second, third] = orders(7);
        assert!(first != second && second != third);
        assert_eq!(orders(7), [first, second, third]);
    }

    #[cfg(all(target_os = "linux", target_env = "gnu", target_pointer_width = "64"))]
    #[test]
    fn clocks_that_count_processor_time_pass_through() {
        fn read(clock: libc::clockid_t) -> Duration {
            let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
            // SAFETY: the structure may be written.
            assert_eq!(unsafe { libc::clock_gettime(clock, &mut time) }, 0);
            Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
        }
        on_fresh_thread(|| {
            let _inside = enter(|| Some(HOUR), entropy(1));
            for clock in [libc::CLOCK_PROCESS_CPUTIME_ID, libc::CLOCK_THREAD_CPUTIME_ID] {
                let before = read(clock);
                assert!(before < HOUR, "{before:?} is the simulation's time");
                let mut sum = 0_u64;
                while read(clock) == before {
                    sum = std::hint::black_box(sum + 1);
                }
                assert!(read(clock) > before);
            }
            for clock in [libc::CLOCK_MONOTONIC, libc::CLOCK_MONOTONIC_RAW, libc::CLOCK_BOOTTIME] {
                assert_eq!(read(clock), Duration::from_secs(86_400) + HOUR);
            }
            // What there is not is said as the system says it.
            let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
            // SAFETY: the structure may be written.
            assert_eq!(unsafe { libc::clock_gettime(12_345, &mut time) }, -1);
        });
    }
}
