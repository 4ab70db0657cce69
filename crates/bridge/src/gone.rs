//! Has the client that asked gone away?

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

/// What runs when the client goes.
pub type OnGone = Box<dyn FnOnce() + Send>;

/// One per request. Set once, when the connection ends before the answer was given.
#[derive(Default)]
pub struct Gone {
    gone: AtomicBool,
    waiting: Mutex<Vec<OnGone>>,
}

impl Gone {
    /// Whether the client is gone.
    #[must_use]
    pub fn is_gone(&self) -> bool {
        self.gone.load(Ordering::Acquire)
    }

    /// Runs `action` when the client goes; at once if it is gone already; never after the request
    /// was answered. It runs on the connection's reader: keep it short.
    pub fn on_gone(&self, action: OnGone) {
        let mut waiting = self.lock();
        if self.is_gone() {
            drop(waiting);
            action();
        } else {
            waiting.push(action);
        }
    }

    /// Tells everybody that waits.
    pub(crate) fn fire(&self) {
        let waiting = {
            let mut waiting = self.lock();
            self.gone.store(true, Ordering::Release);
            std::mem::take(&mut *waiting)
        };
        for action in waiting {
            action();
        }
    }

    /// The request is answered: nobody waits any more.
    pub(crate) fn disarm(&self) {
        let waiting = std::mem::take(&mut *self.lock());
        drop(waiting);
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<OnGone>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for Gone {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Gone").field("gone", &self.is_gone()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::AtomicU32;

    #[test]
    fn actions_run_once_when_the_client_goes_and_not_after_the_answer() {
        let ran = Arc::new(AtomicU32::new(0));
        let count = |by: u32| {
            let ran = Arc::clone(&ran);
            Box::new(move || {
                ran.fetch_add(by, Ordering::SeqCst);
            }) as OnGone
        };
        let gone = Gone::default();
        gone.on_gone(count(1));
        gone.fire();
        gone.fire();
        gone.on_gone(count(10));
        assert_eq!(ran.load(Ordering::SeqCst), 11);

        let gone = Gone::default();
        gone.on_gone(count(100));
        gone.disarm();
        gone.fire();
        assert_eq!(ran.load(Ordering::SeqCst), 11);
    }
}
