//! What goes wrong: frozen, killed and missing applications, a bus that dies.

#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod ax_desk;

use std::time::{Duration, Instant};

use ax_desk::{Desk, eventually, query, scope, wait_for};
use deskhand_platform::{CancelToken, Elements, Handle, Limit, PlatformError, Root, Scope, WindowId};
use deskhand_protocol::{ErrorCode, Role};

#[test]
fn a_frozen_application() {
    let desk = Desk::start();
    let ax = desk.elements();
    let frozen = desk.spawn("mousepad", &[]);
    let (_, menu) = wait_for(&ax, frozen, Role::Menu, "Edit");
    let lively = desk.spawn("zenity", &["--info", "--text=hello"]);
    wait_for(&ax, lively, Role::Button, "OK");
    desk.signal(frozen, "-STOP");
    // One of many: named, the others are there; skipped the next time.
    for round in ["first", "second"] {
        let tree = ax.tree(&query(Root::Desktop), &scope()).unwrap();
        assert_eq!(tree.unresponsive.len(), 1, "{round}");
        assert!(tree.unresponsive[0].contains(&frozen.to_string()), "{round}: {:?}", tree.unresponsive);
        assert!(tree.nodes.iter().any(|n| n.element.pid == lively), "{round}");
        assert!(tree.nodes.iter().all(|n| n.element.pid != frozen), "{round}");
    }
    for (what, error) in [
        ("tree", ax.tree(&query(Root::App(frozen)), &scope()).map(|_| ()).unwrap_err()),
        ("read", ax.read(&menu.handle, &scope()).map(|_| ()).unwrap_err()),
        (
            "new connection",
            desk.elements().tree(&query(Root::App(frozen)), &scope()).map(|_| ()).unwrap_err(),
        ),
    ] {
        assert_eq!(error.code(), ErrorCode::AppUnresponsive, "{what}: {error}");
    }
    desk.signal(frozen, "-CONT");
    wait_for(&ax, frozen, Role::Menu, "Edit");
    let tree = ax.tree(&query(Root::Desktop), &scope()).unwrap();
    assert!(tree.unresponsive.is_empty() && tree.nodes.iter().any(|n| n.element.pid == frozen));
}

#[test]
fn killed_while_it_is_read() {
    let desk = Desk::start();
    let ax = desk.elements();
    let pid = desk.spawn("mousepad", &[]);
    let (_, menu) = wait_for(&ax, pid, Role::Menu, "Edit");
    std::thread::scope(|s| {
        let reader = s.spawn(|| {
            loop {
                // A connection of its own each time, so that all of it is read.
                if let Err(e) = desk.elements().tree(&query(Root::App(pid)), &scope()) {
                    return e;
                }
            }
        });
        std::thread::sleep(Duration::from_millis(300));
        desk.kill(pid);
        let error = reader.join().unwrap();
        let codes = [
            ErrorCode::AppNotFound,
            ErrorCode::StaleSnapshot,
            ErrorCode::AppUnresponsive,
            ErrorCode::AxUnavailable,
            // Off the bus, and not wholly gone yet.
            ErrorCode::Unsupported,
        ];
        assert!(codes.contains(&error.code()), "{error}");
    });
    let error = ax.tree(&query(Root::App(pid)), &scope()).unwrap_err();
    assert_eq!(error.code(), ErrorCode::AppNotFound, "{error}");
    let error = ax.read(&menu.handle, &scope()).unwrap_err();
    assert_eq!(error.code(), ErrorCode::StaleSnapshot, "{error}");
    let tree = ax.tree(&query(Root::Desktop), &scope()).unwrap();
    assert!(tree.nodes.iter().all(|n| n.element.pid != pid));
}

#[test]
fn what_is_not_there() {
    let desk = Desk::start();
    let ax = desk.elements();
    let xterm = desk.spawn("xterm", &[]);
    let bad = |h: &str| ax.read(&Handle(h.into()), &scope()).unwrap_err().code();
    assert_eq!(bad("nonsense"), ErrorCode::InvalidInput);
    assert_eq!(bad(":1.9999/org/a11y/atspi/accessible/1"), ErrorCode::StaleSnapshot);
    let tree = |root| ax.tree(&query(root), &scope()).unwrap_err().code();
    assert_eq!(tree(Root::App(xterm)), ErrorCode::Unsupported);
    assert_eq!(tree(Root::App(u32::MAX - 5)), ErrorCode::AppNotFound);
    assert_eq!(tree(Root::Window(WindowId(7))), ErrorCode::WindowNotFound);
    // Nothing happens: no event, and no waiting past the scope.
    let mark = ax.mark().unwrap();
    let quiet = ax.wait_event(mark, Some(1), &Scope::timeout(Duration::from_millis(200))).unwrap();
    assert!(quiet.is_none());
    let cancel = CancelToken::new();
    cancel.cancel();
    let cancelled = Scope::new(Duration::from_secs(5), cancel);
    assert!(matches!(ax.tree(&query(Root::Desktop), &cancelled), Err(PlatformError::Cancelled)));
    assert!(matches!(ax.wait_event(mark, None, &cancelled), Err(PlatformError::Cancelled)));
    // An object that never was, of an application that is.
    let pid = desk.spawn("mousepad", &[]);
    let (_, menu) = wait_for(&ax, pid, Role::Menu, "Edit");
    let bus = menu.handle.0.split('/').next().unwrap();
    assert_eq!(bad(&format!("{bus}/org/a11y/atspi/accessible/999999")), ErrorCode::StaleSnapshot);
    let mut hurry = query(Root::App(pid));
    hurry.max_wall = Duration::ZERO;
    let tree = desk.elements().tree(&hurry, &scope());
    assert!(tree.is_err() || tree.unwrap().limit == Some(Limit::WallTime));
}

#[test]
fn the_bus_dies_and_comes_back() {
    let desk = Desk::start();
    let ax = desk.elements();
    let pid = desk.spawn("mousepad", &[]);
    wait_for(&ax, pid, Role::Menu, "Edit");
    // Without the session bus there is nobody to ask for a new accessibility bus.
    let daemon = desk.ax_daemon();
    desk.stop_bus();
    desk.signal(daemon, "-9");
    let error = eventually("the end to be noticed", || ax.tree(&query(Root::App(pid)), &scope()).err());
    assert_eq!(error.code(), ErrorCode::AxUnavailable, "{error}");
    let before = Instant::now();
    let error = ax.tree(&query(Root::Desktop), &scope()).unwrap_err();
    assert_eq!(error.code(), ErrorCode::AxUnavailable, "{error}");
    assert!(before.elapsed() < Duration::from_secs(15), "no hang");
    desk.start_bus();
    let tree = eventually("the new bus", || ax.tree(&query(Root::Desktop), &scope()).ok());
    assert_eq!(tree.nodes[0].depth, 0);
    let again = desk.spawn("mousepad", &["--disable-server"]);
    wait_for(&ax, again, Role::Menu, "Edit");
    // Only the accessibility bus: a new one is started for us.
    desk.signal(desk.ax_daemon(), "-9");
    let third = desk.spawn("zenity", &["--info", "--text=hello"]);
    wait_for(&ax, third, Role::Button, "OK");
}
