//! Servers that are missing, die, come back or freeze.

use std::time::{Duration, Instant};

use deskhand_platform::{Area, Button, Desktop, Key, Result, Scope};
use deskhand_platform_linux::{Options, connect};
use deskhand_protocol::{ErrorCode, Point, Rect};

use crate::client::Client;
use crate::common::{LONG, Xvfb, scope};

/// Every call that needs the server.
fn calls(d: &Desktop) -> Vec<(&'static str, Result<()>)> {
    let s = scope();
    vec![
        ("displays", d.screen.displays().map(drop)),
        ("capture", d.screen.capture(Area::All, &s).map(drop)),
        ("mark", d.screen.mark().map(drop)),
        ("pointer", d.input.pointer().map(drop)),
        ("move", d.input.move_to(Point::new(5, 5), &s)),
        ("button", d.input.button(Button::Left, true, &s).and(d.input.button(Button::Left, false, &s))),
        ("chord", d.input.chord(&[Key::Char('a')], &s)),
        ("type", d.input.type_keys("aé世", Duration::ZERO, &mut |_| {}, &s).map(drop)),
        ("at", d.windows.at(Point::new(5, 5)).map(drop)),
        ("write_text", d.clipboard.write_text("x", &s)),
        ("read_text", d.clipboard.read_text(&s).map(drop)),
        ("idle", d.session.idle().map(drop)),
    ]
}

fn all_unavailable(d: &Desktop) {
    for (name, result) in calls(d) {
        assert_eq!(result.err().map(|e| e.code()), Some(ErrorCode::DisplayUnavailable), "{name}");
    }
    for result in [d.windows.list().map(drop), d.apps.running().map(drop)] {
        assert_eq!(result.err().map(|e| e.code()), Some(ErrorCode::DisplayUnavailable));
    }
    let info = d.session.system_info().expect("works without a display");
    assert!(info.displays.is_empty() && info.memory_total > 0 && info.cpus > 0);
}

#[test]
fn no_display_is_an_error_of_the_calls_not_of_the_start() {
    let desktop = connect(&Options { display: Some(":63999".into()) });
    all_unavailable(&desktop);
    let nonsense = connect(&Options { display: Some("no such display".into()) });
    all_unavailable(&nonsense);
    let checks = desktop.capabilities.checks(&scope());
    for id in ["display", "screen_capture", "input", "window_manager", "clipboard", "session"] {
        let check = checks.iter().find(|c| c.id == id).expect(id);
        assert_eq!(check.code, Some(ErrorCode::DisplayUnavailable), "{check:?}");
        assert!(!check.fix.is_empty());
    }
}

#[test]
fn a_server_that_dies_and_comes_back_is_used_again() {
    let x = Xvfb::start();
    let desktop = x.desktop();
    for (name, result) in calls(&desktop) {
        result.unwrap_or_else(|e| panic!("{name}: {e}"));
    }
    let mark = desktop.screen.mark().unwrap();
    let waiting = desktop.clone();
    let waiter =
        std::thread::spawn(move || waiting.screen.wait_change(mark, Some(Rect::new(900, 0, 5, 5)), &scope()));
    std::thread::sleep(Duration::from_millis(50));
    let display = x.kill();
    let start = Instant::now();
    let waited = waiter.join().unwrap();
    assert_eq!(waited.err().map(|e| e.code()), Some(ErrorCode::DisplayUnavailable));
    all_unavailable(&desktop);
    assert!(start.elapsed() < LONG, "told at once, not after a time limit each");
    let again = Xvfb::start_with(&["-screen", "0", "640x480x24"], Some(&display));
    assert_eq!(again.display, display);
    for (name, result) in calls(&desktop) {
        result.unwrap_or_else(|e| panic!("{name} after the restart: {e}"));
    }
    assert_eq!(desktop.screen.displays().unwrap()[0].bounds, Rect::new(0, 0, 640, 480));
    let change = desktop.screen.wait_change(mark, None, &scope()).unwrap().expect("all is new");
    assert_eq!(change.rects, [Rect::new(0, 0, 640, 480)]);
    let client = Client::new(&again.display, Rect::new(0, 0, 50, 50), 0xaa_bb_cc);
    let frame = desktop.screen.capture(Area::Region(Rect::new(0, 0, 1, 1)), &scope()).unwrap();
    assert_eq!(frame.data[..3], [0xcc, 0xbb, 0xaa]);
    drop(client);
}

#[test]
fn a_frozen_server_costs_its_time_limit_only() {
    let x = Xvfb::start();
    let desktop = x.desktop();
    desktop.input.pointer().unwrap();
    x.stop(true);
    let start = Instant::now();
    let result = desktop.input.pointer();
    assert_eq!(result.err().map(|e| e.code()), Some(ErrorCode::DisplayUnavailable));
    assert!(start.elapsed() < LONG);
    x.stop(false);
    desktop.input.pointer().expect("it goes on");
    let short = Scope::timeout(Duration::from_millis(50));
    assert!(desktop.screen.wait_change(desktop.screen.mark().unwrap(), None, &short).unwrap().is_none());
}
