//! Worker threads, made on demand and reused: a call does not wait for a thread to start.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// One piece of work.
pub(crate) type Job = Box<dyn FnOnce() + Send>;

/// A pool that gives every job a thread at once, up to its bound. Who submits keeps the number of
/// jobs under the bound, so nothing is ever stuck behind something slow.
pub(crate) struct Pool {
    shared: Arc<Shared>,
}

struct Shared {
    state: Mutex<State>,
    wake: Condvar,
    most: usize,
    idle_for: Duration,
}

#[derive(Default)]
struct State {
    queue: VecDeque<Job>,
    idle: usize,
    threads: usize,
    closed: bool,
}

impl Pool {
    pub(crate) fn new(most: usize, idle_for: Duration) -> Self {
        let shared = Shared { state: Mutex::default(), wake: Condvar::new(), most, idle_for };
        Self { shared: Arc::new(shared) }
    }

    /// Runs the job; hands it back when there is no thread for it.
    pub(crate) fn run(&self, job: Job) -> Result<(), Job> {
        let mut state = self.shared.lock();
        if state.closed {
            return Err(job);
        }
        if state.idle > state.queue.len() {
            state.queue.push_back(job);
            drop(state);
            self.shared.wake.notify_one();
            return Ok(());
        }
        if state.threads >= self.shared.most {
            return Err(job);
        }
        state.threads += 1;
        state.queue.push_back(job);
        let shared = Arc::clone(&self.shared);
        let spawned =
            std::thread::Builder::new().name("bridge-worker".to_owned()).spawn(move || shared.work());
        if spawned.is_ok() {
            return Ok(());
        }
        state.threads -= 1;
        // The lock was held all along, so the last job is still ours.
        match state.queue.pop_back() {
            Some(job) => Err(job),
            None => Ok(()),
        }
    }

    /// Threads alive.
    pub(crate) fn threads(&self) -> usize {
        self.shared.lock().threads
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.shared.lock().closed = true;
        self.shared.wake.notify_all();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn work(&self) {
        let mut state = self.lock();
        loop {
            if let Some(job) = state.queue.pop_front() {
                drop(state);
                // A job that panics must not take the thread count with it.
                let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(job));
                state = self.lock();
                continue;
            }
            if state.closed {
                break;
            }
            state.idle += 1;
            let (woken, timeout) =
                self.wake.wait_timeout(state, self.idle_for).unwrap_or_else(PoisonError::into_inner);
            state = woken;
            state.idle -= 1;
            if timeout.timed_out() && state.queue.is_empty() {
                break;
            }
        }
        state.threads -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    #[test]
    fn threads_are_reused_bounded_and_end_when_idle() {
        let pool = Pool::new(2, Duration::from_millis(30));
        let (done, wait) = mpsc::channel();
        for _ in 0..50 {
            let done = done.clone();
            assert!(pool.run(Box::new(move || done.send(()).unwrap())).is_ok());
            wait.recv_timeout(Duration::from_secs(20)).unwrap();
            while pool.shared.lock().idle == 0 {
                std::thread::yield_now();
            }
        }
        assert_eq!(pool.threads(), 1);
        let (hold, held) = mpsc::channel::<()>();
        let held = Arc::new(Mutex::new(held));
        for _ in 0..2 {
            let held = Arc::clone(&held);
            assert!(pool.run(Box::new(move || assert!(held.lock().unwrap().recv().is_err()))).is_ok());
        }
        assert!(pool.run(Box::new(|| ())).is_err(), "a third job has no thread");
        drop(hold);
        for _ in 0..2000 {
            if pool.threads() == 0 {
                return;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        panic!("idle threads did not end");
    }

    #[test]
    fn a_panic_does_not_cost_a_thread() {
        let pool = Pool::new(1, Duration::from_secs(5));
        assert!(pool.run(Box::new(|| std::panic::resume_unwind(Box::new("on purpose")))).is_ok());
        while pool.shared.lock().idle == 0 {
            std::thread::yield_now();
        }
        let (done, wait) = mpsc::channel();
        assert!(pool.run(Box::new(move || done.send(()).unwrap())).is_ok());
        wait.recv_timeout(Duration::from_secs(20)).unwrap();
    }
}
