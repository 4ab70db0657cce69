//! Windows through openbox.

use std::time::Duration;

use deskhand_platform::{Scope, Window, WindowChange, WindowId};
use deskhand_protocol::{ErrorCode, Point, Rect};
use x11rb::protocol::xproto::{AtomEnum, ConnectionExt as _, PropMode};
use x11rb::wrapper::ConnectionExt as _;

use crate::client::Client;
use crate::common::{Xvfb, eventually, scope};

fn list(desktop: &deskhand_platform::Desktop) -> Vec<Window> {
    desktop.windows.list().unwrap()
}

fn id(client: &Client) -> WindowId {
    WindowId(client.window.into())
}

#[test]
fn windows_are_listed_with_all_they_tell() {
    let x = Xvfb::managed();
    let desktop = x.desktop();
    let a = Client::new(&x.display, Rect::new(100, 100, 300, 200), 0xff);
    let b = Client::hidden(&x.display, Rect::new(500, 300, 200, 150), 0xff00);
    b.x.change_property32(
        PropMode::REPLACE,
        b.window,
        b.atom("WM_TRANSIENT_FOR"),
        AtomEnum::WINDOW,
        &[a.window],
    )
    .unwrap();
    let state = b.atom("_NET_WM_STATE");
    let modal = [b.atom("_NET_WM_STATE_MODAL")];
    b.x.change_property32(PropMode::REPLACE, b.window, state, AtomEnum::ATOM, &modal).unwrap();
    b.map();
    eventually("both windows", || list(&desktop).len() == 2);
    for (bytes, kind, want) in [
        (&b"plain"[..], "STRING", "plain"),
        (b"caf\xe9", "STRING", "caf\u{e9}"),
        (b"\x1b%G\xe4\xbd\xa0\xe5\xa5\xbd\x1b%@", "COMPOUND_TEXT", "你好"),
        (b"bad \xff utf8", "UTF8_STRING", "bad \u{fffd} utf8"),
    ] {
        a.property(AtomEnum::WM_NAME.into(), a.atom(kind), bytes);
        let window = list(&desktop).into_iter().find(|w| w.id == id(&a)).expect("a");
        assert_eq!(window.title, want, "{kind}");
    }
    a.property(a.atom("_NET_WM_NAME"), a.atom("UTF8_STRING"), "новое 名字".as_bytes());
    let all = list(&desktop);
    let wa = all.iter().find(|w| w.id == id(&a)).expect("a");
    assert_eq!((wa.title.as_str(), wa.app.as_str()), ("новое 名字", "Probe"));
    assert_eq!(wa.pid, Some(std::process::id()));
    assert_eq!((wa.content.width, wa.content.height), (300, 200));
    assert!(wa.bounds.contains_rect(&wa.content) && wa.bounds != wa.content, "the frame counts: {wa:?}");
    let wb = all.iter().find(|w| w.id == id(&b)).expect("b");
    assert_eq!((wb.transient_for, wb.modal, wb.dialog), (Some(id(&a)), true, true));
    assert!(!wa.dialog && !wa.modal && wa.transient_for.is_none());
    let shot = desktop.screen.capture(deskhand_platform::Area::Window(id(&a)), &scope()).unwrap();
    assert_eq!(shot.area, wa.bounds, "the capture shows the frame too");
    // A process of another machine is not one of ours.
    a.property(a.atom("WM_CLIENT_MACHINE"), AtomEnum::STRING.into(), b"elsewhere.example");
    let pid = list(&desktop).into_iter().find(|w| w.id == id(&a)).and_then(|w| w.pid);
    assert_eq!(pid, Some(std::process::id()), "told by the server's socket instead");
}

#[test]
fn windows_are_changed_and_the_change_is_waited_for() {
    let x = Xvfb::managed();
    let desktop = x.desktop();
    let a = Client::new(&x.display, Rect::new(100, 100, 300, 200), 0xff);
    let b = Client::new(&x.display, Rect::new(150, 150, 300, 200), 0xff00);
    eventually("both windows", || list(&desktop).len() == 2);
    let windows = &desktop.windows;
    for _ in 0..5 {
        for w in [&a, &b] {
            windows.activate(id(w), &scope()).unwrap();
            let active = windows.active().unwrap().expect("an active window");
            assert!(active.id == id(w) && active.focused);
            assert_eq!(list(&desktop)[0].id, id(w), "topmost first");
            assert_eq!(a.x.get_input_focus().unwrap().reply().unwrap().focus, w.window);
        }
    }
    let change = |change| windows.change(id(&a), change, &scope()).unwrap().expect("still there");
    assert!(change(WindowChange::Maximize).maximized);
    assert!(!change(WindowChange::Restore).maximized);
    assert!(change(WindowChange::Minimize).minimized);
    assert!(!change(WindowChange::Restore).minimized);
    let bounds = |x, y, width, height| WindowChange::Bounds { x, y, width, height };
    let now = change(bounds(Some(40), Some(60), Some(420), Some(310)));
    assert_eq!(now.bounds, Rect::new(40, 60, 420, 310));
    let now = change(bounds(None, Some(100), None, None));
    assert_eq!(now.bounds, Rect::new(40, 100, 420, 310));
    let now = change(bounds(None, None, Some(333), None));
    assert_eq!(now.bounds, Rect::new(40, 100, 333, 310));
    change(WindowChange::Maximize);
    let now = change(bounds(Some(10), Some(10), Some(300), Some(300)));
    assert!(!now.maximized);
    assert_eq!(now.bounds, Rect::new(10, 10, 300, 300));
    let bad = windows.change(id(&a), bounds(None, None, Some(0), None), &scope()).unwrap_err();
    assert_eq!(bad.code(), ErrorCode::InvalidInput);
    assert!(bad.to_string().contains("width"), "{bad}");
}

#[test]
fn windows_close_or_say_that_they_do_not() {
    let x = Xvfb::managed();
    let desktop = x.desktop();
    let term = x.run("xterm", &[]);
    eventually("xterm", || list(&desktop).len() == 1);
    let window = list(&desktop).remove(0);
    assert_eq!(window.pid, Some(term.0.id()));
    // A program that is still starting may miss the first request.
    eventually("xterm to close", || match desktop.windows.change(window.id, WindowChange::Close, &scope()) {
        Ok(after) => after.is_none(),
        Err(e) => e.code() == ErrorCode::WindowNotFound,
    });
    let gone = desktop.windows.activate(window.id, &scope()).unwrap_err();
    assert_eq!(gone.code(), ErrorCode::WindowNotFound);
    // A client that knows WM_DELETE_WINDOW and does nothing about it.
    let a = Client::new(&x.display, Rect::new(100, 100, 300, 200), 0xff);
    let protocols = [a.atom("WM_DELETE_WINDOW")];
    a.x.change_property32(PropMode::REPLACE, a.window, a.atom("WM_PROTOCOLS"), AtomEnum::ATOM, &protocols)
        .unwrap();
    a.sync();
    eventually("the window", || list(&desktop).len() == 1);
    let short = Scope::timeout(Duration::from_millis(200));
    assert!(desktop.windows.change(id(&a), WindowChange::Close, &short).unwrap().is_some());
}

#[test]
fn the_window_at_a_point_is_the_topmost_one() {
    let x = Xvfb::managed();
    let desktop = x.desktop();
    let a = Client::new(&x.display, Rect::new(100, 100, 300, 200), 0xff);
    eventually("the window", || list(&desktop).len() == 1);
    let window = list(&desktop).remove(0);
    let at = |x, y| desktop.windows.at(Point::new(x, y)).unwrap();
    let middle = window.content.center();
    // It is in the list a moment before it is on the screen.
    eventually("the window to be shown", || at(middle.x, middle.y).map(|w| w.id) == Some(id(&a)));
    assert_eq!(at(window.bounds.x + 10, window.bounds.y + 3).map(|w| w.id), Some(id(&a)), "its frame");
    assert_eq!(at(990, 690), None);
    let menu = Client::unmanaged(&x.display, Rect::new(middle.x, middle.y, 50, 50), 0xffff);
    let over = at(middle.x + 5, middle.y + 5).expect("the menu");
    assert_eq!((over.id, over.title.as_str(), over.transient_for), (id(&menu), "", Some(id(&a))));
    assert_eq!(desktop.windows.at(Point::new(5000, 5)).unwrap_err().code(), ErrorCode::OutOfRange);
}

#[test]
fn without_a_window_manager_the_fix_is_told() {
    let x = Xvfb::start();
    let desktop = x.desktop();
    let a = Client::new(&x.display, Rect::new(100, 100, 300, 200), 0xff);
    for error in [
        desktop.windows.list().unwrap_err(),
        desktop.windows.active().unwrap_err(),
        desktop.windows.activate(id(&a), &scope()).unwrap_err(),
        desktop.windows.change(id(&a), WindowChange::Maximize, &scope()).unwrap_err(),
    ] {
        assert_eq!(error.code(), ErrorCode::Unsupported);
        assert!(error.to_string().contains("openbox"), "{error}");
    }
    assert_eq!(desktop.windows.at(Point::new(150, 150)).unwrap().map(|w| w.id), Some(id(&a)));
}
