//! Deadline and cancellation, handed to everything that can wait.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::{PlatformError, Result};

/// Set once, seen by all clones at once.
#[derive(Clone, Default)]
pub struct CancelToken(Arc<Inner>);

#[derive(Default)]
struct Inner {
    cancelled: Mutex<bool>,
    woken: Condvar,
}

impl CancelToken {
    /// A token nobody has cancelled.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Cancels; waiters wake at once.
    pub fn cancel(&self) {
        *self.0.cancelled.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.0.woken.notify_all();
    }

    /// Whether it was cancelled.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        *self.0.cancelled.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for `time` or until cancelled; true when cancelled.
    #[must_use]
    pub fn wait(&self, time: Duration) -> bool {
        let until = Instant::now() + time;
        let mut cancelled = self.0.cancelled.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if *cancelled {
                return true;
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            cancelled = self.0.woken.wait_timeout(cancelled, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

/// How long something may take, and whether it should still go on.
#[derive(Clone)]
pub struct Scope {
    deadline: Instant,
    cancel: CancelToken,
}

impl Scope {
    /// Ends after `time`, or when `cancel` is cancelled.
    #[must_use]
    pub fn new(time: Duration, cancel: CancelToken) -> Self {
        Self { deadline: Instant::now() + time, cancel }
    }

    /// Ends after `time`; nobody cancels it.
    #[must_use]
    pub fn timeout(time: Duration) -> Self {
        Self::new(time, CancelToken::new())
    }

    /// The same cancellation with an earlier end, if `time` is shorter than what is left.
    #[must_use]
    pub fn within(&self, time: Duration) -> Self {
        Self { deadline: self.deadline.min(Instant::now() + time), cancel: self.cancel.clone() }
    }

    /// The token.
    #[must_use]
    pub fn cancel_token(&self) -> &CancelToken {
        &self.cancel
    }

    /// When it ends.
    #[must_use]
    pub fn deadline(&self) -> Instant {
        self.deadline
    }

    /// Time left; zero when over.
    #[must_use]
    pub fn remaining(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }

    /// An error when cancelled or over. Call it before every event that is sent.
    pub fn check(&self, doing: &str) -> Result<()> {
        if self.cancel.is_cancelled() {
            return Err(PlatformError::Cancelled);
        }
        if self.remaining().is_zero() {
            return Err(PlatformError::Timeout { doing: doing.to_owned() });
        }
        Ok(())
    }

    /// Sleeps for `time`; an error when cancelled or when the end comes first.
    pub fn sleep(&self, time: Duration, doing: &str) -> Result<()> {
        let left = self.remaining();
        if self.cancel.wait(time.min(left)) {
            return Err(PlatformError::Cancelled);
        }
        if left < time { Err(PlatformError::Timeout { doing: doing.to_owned() }) } else { Ok(()) }
    }
}
