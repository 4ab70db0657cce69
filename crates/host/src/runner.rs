//! Runs a tool so that not even a display server that hangs can hold the answer back.
//!
//! Platform calls honour their deadline, but a round trip to a stopped X server cannot be called
//! back. So the work runs on a thread of its own and the caller waits with a clock: when time is
//! up, the caller answers, and the thread keeps what it holds (the lane above all) until it really
//! ends. A later action then waits instead of acting over one that may still be under way.

use std::sync::mpsc;
use std::time::Duration;

use deskhand_platform::Scope;
use deskhand_protocol::{Error, ErrorCode, Result};

/// Time the work gets to notice by itself that it is over.
const GRACE: Duration = Duration::from_millis(400);

/// Runs `work`; its result, or a time-out when it does not come back.
pub(crate) fn run<T: Send + 'static>(
    scope: &Scope,
    what: &str,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T> {
    let (send, receive) = mpsc::sync_channel(1);
    std::thread::Builder::new()
        .name(format!("run {what}"))
        .stack_size(1 << 20)
        .spawn(move || {
            let _ = send.send(work());
        })
        .map_err(|e| Error::new(ErrorCode::Busy, format!("no thread to run {what}: {e}")))?;
    match receive.recv_timeout(scope.remaining() + GRACE) {
        Ok(done) => Ok(done),
        Err(mpsc::RecvTimeoutError::Timeout) => {
            scope.cancel_token().cancel();
            Err(Error::new(
                ErrorCode::Timeout,
                format!("{what} did not end within its time and was given up"),
            )
            .detail("givenUp", true))
        }
        Err(mpsc::RecvTimeoutError::Disconnected) => {
            Err(Error::new(ErrorCode::Internal, format!("{what} ended without an answer (it panicked)")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_answer_comes_even_when_the_work_does_not_end() {
        let scope = Scope::timeout(Duration::from_millis(20));
        let e = run(&scope, "sleep", || std::thread::sleep(Duration::from_secs(3))).unwrap_err();
        assert_eq!(e.code, ErrorCode::Timeout);
        assert!(scope.cancel_token().is_cancelled());
    }

    #[test]
    fn a_panic_is_an_error_of_its_own() {
        let scope = Scope::timeout(Duration::from_secs(5));
        let e = run(&scope, "panic", || -> u32 { panic!("on purpose") }).unwrap_err();
        assert_eq!(e.code, ErrorCode::Internal);
    }
}
