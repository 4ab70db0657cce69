//! Single flight: one action at a time on the desktop, first come first served.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use deskhand_platform::Scope;
use deskhand_protocol::{Error, ErrorCode, Result};

/// Most calls that wait.
const MAX_WAITING: usize = 64;
/// How often a waiter looks whether it was aborted.
const LOOK: Duration = Duration::from_millis(5);

/// The lane.
#[derive(Default)]
pub(crate) struct Lane {
    state: Mutex<State>,
    freed: Condvar,
}

#[derive(Default)]
struct State {
    busy: bool,
    next: u64,
    waiting: VecDeque<u64>,
}

/// Held while an action runs; the next one goes when it is dropped.
pub(crate) struct Turn(Arc<Lane>);

impl Lane {
    /// Waits for its turn, at most until the scope ends.
    pub(crate) fn enter(self: &Arc<Self>, scope: &Scope) -> Result<Turn> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.waiting.len() >= MAX_WAITING {
            return Err(Error::new(
                ErrorCode::Busy,
                format!("{MAX_WAITING} actions wait for the desktop already"),
            ));
        }
        let ticket = state.next;
        state.next += 1;
        state.waiting.push_back(ticket);
        loop {
            if !state.busy && state.waiting.front() == Some(&ticket) {
                state.waiting.pop_front();
                state.busy = true;
                return Ok(Turn(Arc::clone(self)));
            }
            if let Err(e) = scope.check("waiting for the desktop to be free") {
                state.waiting.retain(|t| *t != ticket);
                self.freed.notify_all();
                return Err(e.into());
            }
            state = self.freed.wait_timeout(state, LOOK).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner).busy = false;
        self.0.freed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use deskhand_platform::CancelToken;
    use std::sync::atomic::{AtomicU32, Ordering};

    #[test]
    fn never_two_at_once_and_in_order() {
        let lane = Arc::new(Lane::default());
        let inside = Arc::new(AtomicU32::new(0));
        let order = Arc::new(Mutex::new(Vec::new()));
        let scope = Scope::timeout(Duration::from_secs(20));
        let first = lane.enter(&scope).unwrap();
        let mut threads = Vec::new();
        for i in 0..8 {
            let (lane2, inside, order, scope) = (lane.clone(), inside.clone(), order.clone(), scope.clone());
            threads.push(std::thread::spawn(move || {
                let _turn = lane2.enter(&scope).unwrap();
                assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0);
                order.lock().unwrap().push(i);
                std::thread::sleep(Duration::from_millis(2));
                inside.fetch_sub(1, Ordering::SeqCst);
            }));
            while lane.state.lock().unwrap().waiting.len() < i + 1 {
                std::thread::yield_now();
            }
        }
        drop(first);
        for t in threads {
            t.join().unwrap();
        }
        assert_eq!(*order.lock().unwrap(), (0..8).collect::<Vec<_>>());
    }

    #[test]
    fn a_waiter_that_is_aborted_or_late_leaves_the_queue() {
        let lane = Arc::new(Lane::default());
        let _held = lane.enter(&Scope::timeout(Duration::from_secs(5))).unwrap();
        assert_eq!(
            lane.enter(&Scope::timeout(Duration::from_millis(20))).err().unwrap().code,
            ErrorCode::Timeout
        );
        let cancel = CancelToken::new();
        cancel.cancel();
        assert_eq!(
            lane.enter(&Scope::new(Duration::from_secs(5), cancel)).err().unwrap().code,
            ErrorCode::Aborted
        );
        assert!(lane.state.lock().unwrap().waiting.is_empty());
    }

    #[test]
    fn the_queue_is_bounded() {
        let lane = Arc::new(Lane::default());
        lane.state.lock().unwrap().waiting.extend(0..MAX_WAITING as u64);
        assert_eq!(lane.enter(&Scope::timeout(Duration::from_secs(1))).err().unwrap().code, ErrorCode::Busy);
    }
}
