//! What works, when parts are missing on purpose; and the services on a session bus.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use deskhand_platform::{Desktop, Urgency};
use deskhand_platform_linux::{Options, connect_with_bus};
use deskhand_protocol::{Check, CheckStatus, ErrorCode};

use crate::common::{Running, Xvfb, eventually, scope};

struct Bus {
    _daemon: Running,
    address: String,
}

impl Bus {
    fn start() -> Self {
        let mut command = Command::new("dbus-daemon");
        command.args(["--session", "--nofork", "--print-address=1"]).stdout(Stdio::piped());
        let mut daemon = Running::start(&mut command);
        let mut address = String::new();
        let out = daemon.0.stdout.take().expect("a pipe");
        BufReader::new(out).read_line(&mut address).expect("an address");
        Self { _daemon: daemon, address: address.trim().into() }
    }
}

fn desktop(x: &Xvfb, bus: &str) -> Desktop {
    connect_with_bus(&Options { display: Some(x.display.clone()) }, Some(bus.into()))
}

fn check(desktop: &Desktop, id: &str) -> Check {
    let checks = desktop.capabilities.checks(&scope());
    for check in &checks {
        assert_eq!(check.status == CheckStatus::Pass, check.fix.is_empty(), "{check:?}");
        assert_eq!(check.status == CheckStatus::Fail, check.code.is_some(), "{check:?}");
    }
    checks.into_iter().find(|c| c.id == id).expect(id)
}

#[test]
fn the_report_tells_the_truth() {
    let managed = Xvfb::managed();
    let no_bus = "unix:path=/no/such/bus";
    let whole = desktop(&managed, no_bus);
    for id in ["display", "screen_capture", "input", "window_manager", "clipboard", "fonts", "session"] {
        let check = check(&whole, id);
        assert_eq!(check.status, CheckStatus::Pass, "{check:?}");
    }
    assert_eq!(whole.capabilities.display_name(), managed.display);
    let ax = check(&whole, "ax");
    assert_eq!((ax.status, ax.code), (CheckStatus::Fail, Some(ErrorCode::AxUnavailable)));
    let notifications = check(&whole, "notifications");
    assert_eq!(notifications.code, Some(ErrorCode::Unsupported));
    assert!(notifications.fix.contains("dunst"));
    let bare = Xvfb::start();
    let bare = desktop(&bare, no_bus);
    assert_eq!(check(&bare, "window_manager").code, Some(ErrorCode::Unsupported));
    assert!(check(&bare, "clipboard").summary.contains("nobody owns it"));
    assert_eq!(bare.session.locked(&scope()).unwrap(), None, "nothing tells");
    let quick: Vec<_> = bare.capabilities.quick(&scope()).into_iter().map(|c| c.id).collect();
    assert_eq!(quick, ["display", "screen_capture", "input", "window_manager", "ax"]);
}

#[test]
fn notifications_reach_the_service() {
    let x = Xvfb::start();
    let bus = Bus::start();
    let desktop = desktop(&x, &bus.address);
    let mut command = Command::new("dunst");
    command.env("DISPLAY", &x.display).env("DBUS_SESSION_BUS_ADDRESS", &bus.address).stdout(Stdio::null());
    let _dunst = Running::start(&mut command);
    eventually("dunst", || check(&desktop, "notifications").status == CheckStatus::Pass);
    let first = desktop.notifications.send("Title 标题", "Body <b>&", Urgency::Normal, &scope()).unwrap();
    let second = desktop.notifications.send("", "", Urgency::Critical, &scope()).unwrap();
    assert_ne!(first, second);
}

#[test]
fn a_frozen_bus_costs_its_time_only() {
    let x = Xvfb::start();
    let bus = Bus::start();
    let desktop = desktop(&x, &bus.address);
    let pid = rustix::process::Pid::from_child(&bus._daemon.0);
    rustix::process::kill_process(pid, rustix::process::Signal::STOP).unwrap();
    let short = deskhand_platform::Scope::timeout(std::time::Duration::from_millis(200));
    let error = desktop.notifications.send("a", "b", Urgency::Low, &short).unwrap_err();
    assert_eq!(error.code(), ErrorCode::Timeout);
    assert_eq!(desktop.session.locked(&scope()).unwrap(), None);
    rustix::process::kill_process(pid, rustix::process::Signal::CONT).unwrap();
}

#[test]
fn the_session_is_read() {
    let x = Xvfb::start();
    let desktop = x.desktop();
    let info = desktop.session.system_info().unwrap();
    assert_eq!((info.displays.len(), info.session_type.as_str()), (1, "x11"));
    assert_eq!(info.keyboard.as_deref(), Some("us"));
    std::thread::sleep(std::time::Duration::from_millis(300));
    let rested = desktop.session.idle().unwrap();
    assert!(rested.as_millis() >= 250, "{rested:?}");
    desktop.input.move_to(deskhand_protocol::Point::new(7, 7), &scope()).unwrap();
    desktop.input.pointer().unwrap();
    assert!(desktop.session.idle().unwrap() < rested);
}
