//! Programs started, found and ended for real.

use std::time::Duration;

use deskhand_platform::Scope;
use deskhand_protocol::ErrorCode;

use crate::common::{Running, Xvfb, eventually, scope};

#[test]
fn a_program_is_started_listed_and_closed() {
    let x = Xvfb::managed();
    let desktop = x.desktop();
    let apps = &desktop.apps;
    assert!(apps.installed().unwrap().iter().any(|a| a.program == "xterm"), "xterm has a desktop file");
    let started = apps.launch("xterm", &["-title".into(), "a b; $(c)".into()], &scope()).unwrap();
    assert!(started.window_seen);
    let window = desktop.windows.list().unwrap().remove(0);
    assert_eq!((window.title.as_str(), window.pid), ("a b; $(c)", Some(started.pid)), "no shell in between");
    let running = apps.running().unwrap();
    let app = running.iter().find(|a| a.pid == started.pid).expect("it runs");
    assert_eq!((app.program.as_str(), app.name.as_str()), ("xterm", "XTerm"));
    assert!(apps.close(started.pid, false, &scope()).unwrap());
    assert_eq!(apps.close(started.pid, false, &scope()).unwrap_err().code(), ErrorCode::AppNotFound);
    assert_eq!(apps.close(started.pid, true, &scope()).unwrap_err().code(), ErrorCode::AppNotFound);
}

#[test]
fn a_frozen_program_is_killed_with_its_children() {
    let x = Xvfb::managed();
    let desktop = x.desktop();
    let script = "sleep 7777 & sleep 7778";
    let args = ["-e", "sh", "-c", script].map(str::to_owned);
    let started = desktop.apps.launch("/usr/bin/xterm", &args, &scope()).unwrap();
    let pid = rustix::process::Pid::from_raw(started.pid as i32).unwrap();
    let children =
        || std::fs::read_to_string(format!("/proc/{0}/task/{0}/children", started.pid)).unwrap_or_default();
    eventually("the shell inside", || !children().trim().is_empty());
    let child: u32 = children().trim().parse().unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::STOP).unwrap();
    let short = Scope::timeout(Duration::from_millis(300));
    assert!(!desktop.apps.close(started.pid, false, &short).unwrap(), "frozen: it does not close");
    assert!(desktop.apps.close(started.pid, true, &scope()).unwrap());
    eventually("the child to be gone", || {
        std::fs::read_to_string(format!("/proc/{child}/stat")).map_or(true, |s| s.contains(") Z"))
    });
}

#[test]
fn what_cannot_be_started_says_why() {
    let x = Xvfb::managed();
    let desktop = x.desktop();
    let error = |name: &str| desktop.apps.launch(name, &[], &scope()).unwrap_err();
    let near = error("xterrm");
    assert_eq!(near.code(), ErrorCode::AppNotFound);
    assert!(near.to_string().contains("XTerm"), "{near}");
    for name in ["", "   ", "/no/such/file", "../xterm", "qqqqqqqqq", "xterm; reboot"] {
        assert_eq!(error(name).code(), ErrorCode::AppNotFound, "{name:?}");
    }
    assert_eq!(error("/bin/false").code(), ErrorCode::Unsupported);
    let own = std::process::id();
    assert_eq!(desktop.apps.close(own, true, &scope()).unwrap_err().code(), ErrorCode::InvalidInput);
    assert_eq!(desktop.apps.close(1, true, &scope()).unwrap_err().code(), ErrorCode::InvalidInput);
    assert_eq!(desktop.apps.close(u32::MAX, true, &scope()).unwrap_err().code(), ErrorCode::AppNotFound);
    // A program without a window is started and told so.
    let started =
        desktop.apps.launch("/bin/sleep", &["555".into()], &Scope::timeout(Duration::from_millis(200)));
    let started = started.unwrap();
    assert!(!started.window_seen);
    assert!(desktop.apps.close(started.pid, false, &scope()).unwrap(), "asked to end by a signal");
    let _: Option<Running> = None;
}
