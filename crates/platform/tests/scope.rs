//! Deadlines and cancellation.

use std::time::{Duration, Instant};

use deskhand_platform::{CancelToken, PlatformError, Scope};
use deskhand_protocol::{Error, ErrorCode};

#[test]
fn a_cancelled_scope_wakes_who_waits() {
    let cancel = CancelToken::new();
    let scope = Scope::new(Duration::from_secs(30), cancel.clone());
    assert!(scope.check("x").is_ok());
    let began = Instant::now();
    std::thread::scope(|s| {
        let waiting = s.spawn(|| scope.sleep(Duration::from_secs(20), "waiting"));
        std::thread::sleep(Duration::from_millis(10));
        cancel.cancel();
        assert!(matches!(waiting.join().unwrap(), Err(PlatformError::Cancelled)));
    });
    assert!(began.elapsed() < Duration::from_secs(10));
    assert!(matches!(scope.check("x"), Err(PlatformError::Cancelled)));
}

#[test]
fn a_scope_ends_and_says_what_was_being_done() {
    let scope = Scope::timeout(Duration::from_millis(5));
    assert!(
        matches!(scope.sleep(Duration::from_secs(5), "counting"), Err(PlatformError::Timeout { doing }) if doing == "counting")
    );
    assert!(scope.remaining().is_zero());
    assert!(scope.within(Duration::from_secs(9)).remaining().is_zero(), "a part never outlives the whole");
    assert!(Scope::timeout(Duration::from_secs(9)).sleep(Duration::from_millis(1), "x").is_ok());
}

#[test]
fn errors_become_their_codes_with_what_helps() {
    let error = PlatformError::PermissionMissing { what: "looking".into(), fix: "ask nicely".into() };
    let error = Error::from(error);
    assert_eq!((error.code, error.hint.as_str()), (ErrorCode::PermissionMissing, "ask nicely"));
    let error = Error::from(PlatformError::NotActionable { what: "button".into(), reason: "covered".into() });
    assert_eq!(error.details["reason"], "covered");
    let error = Error::from(PlatformError::display("drawing", "pipe broke"));
    assert!(error.message.contains("drawing") && error.message.contains("pipe broke"), "{error}");
}
