//! Captures, changes, monitors, highlights.

use std::sync::Arc;
use std::time::Duration;

use deskhand_platform::{Area, CancelToken, Frame, Highlight, PlatformError, Scope, WindowId};
use deskhand_protocol::{ErrorCode, Rect};
use x11rb::connection::Connection;
use x11rb::protocol::randr::{ConnectionExt as _, MonitorInfo};

use crate::client::Client;
use crate::common::{Xvfb, eventually, scope};

fn pixel(frame: &Frame, x: i32, y: i32) -> u32 {
    let at = (y as usize * frame.size.width as usize + x as usize) * 4;
    u32::from(frame.data[at]) | u32::from(frame.data[at + 1]) << 8 | u32::from(frame.data[at + 2]) << 16
}

#[test]
fn what_is_drawn_is_what_is_captured() {
    let x = Xvfb::start();
    let desktop = x.desktop();
    let client = Client::new(&x.display, Rect::new(101, 53, 33, 21), 0x12_34_56);
    let all = desktop.screen.capture(Area::All, &scope()).unwrap();
    assert_eq!((all.size.width, all.size.height), (1000, 700));
    assert_eq!(all.data.len(), 1000 * 700 * 4);
    assert_eq!(all.area, Rect::new(0, 0, 1000, 700));
    assert_eq!(pixel(&all, 101, 53), 0x12_34_56);
    assert_eq!(pixel(&all, 133, 73), 0x12_34_56);
    assert_ne!(pixel(&all, 134, 73), 0x12_34_56);
    assert_ne!(pixel(&all, 100, 53), 0x12_34_56);
    // Odd sizes and a rectangle that leaves the desktop.
    let part = desktop.screen.capture(Area::Region(Rect::new(100, 52, 35, 3)), &scope()).unwrap();
    assert_eq!((part.size.width, part.size.height), (35, 3));
    assert_eq!((pixel(&part, 0, 1), pixel(&part, 1, 1)), (pixel(&all, 100, 53), 0x12_34_56));
    let edge = desktop.screen.capture(Area::Region(Rect::new(-10, 690, 50, 50)), &scope()).unwrap();
    assert_eq!(edge.area, Rect::new(0, 690, 40, 10));
    let window = desktop.screen.capture(Area::Window(WindowId(client.window.into())), &scope()).unwrap();
    assert_eq!(window.area, Rect::new(101, 53, 33, 21));
    assert!(window.data.chunks(4).all(|p| p[..3] == [0x56, 0x34, 0x12]));
}

#[test]
fn what_cannot_be_captured_says_why() {
    let x = Xvfb::start();
    let desktop = x.desktop();
    let code = |area| desktop.screen.capture(area, &scope()).err().map(|e| e.code());
    assert_eq!(code(Area::Region(Rect::new(2000, 0, 5, 5))), Some(ErrorCode::OutOfRange));
    assert_eq!(code(Area::Region(Rect::new(0, 0, 0, 5))), Some(ErrorCode::OutOfRange));
    assert_eq!(
        code(Area::Region(Rect::new(i32::MAX, i32::MAX, i32::MAX, i32::MAX))),
        Some(ErrorCode::OutOfRange)
    );
    assert_eq!(code(Area::Display(7)), Some(ErrorCode::OutOfRange));
    assert_eq!(code(Area::Window(WindowId(0x1234_5678))), Some(ErrorCode::WindowNotFound));
    assert_eq!(code(Area::Window(WindowId(u64::MAX))), Some(ErrorCode::WindowNotFound));
    let over = CancelToken::new();
    over.cancel();
    let cancelled = desktop.screen.capture(Area::All, &Scope::new(Duration::from_secs(9), over));
    assert!(matches!(cancelled, Err(PlatformError::Cancelled)));
}

#[test]
fn pixels_are_handed_out_again_until_something_changes_under_them() {
    let x = Xvfb::start();
    let desktop = x.desktop();
    let client = Client::new(&x.display, Rect::new(10, 10, 200, 200), 0xff_00_00);
    let shot = || desktop.screen.capture(Area::All, &scope()).unwrap();
    let first = shot();
    let again = shot();
    assert!(Arc::ptr_eq(&first.data, &again.data), "nothing changed");
    for i in 0..50 {
        client.fill(Rect::new(i, i, 1, 1), 0x00_ff_00);
        let now = shot();
        assert_eq!(pixel(&now, 10 + i, 10 + i), 0x00_ff_00, "change {i} was not seen");
        assert_eq!(pixel(&first, 10 + i, 10 + i), 0xff_00_00, "an old picture was overwritten");
    }
    let corner = Area::Region(Rect::new(500, 500, 20, 20));
    let a = desktop.screen.capture(corner, &scope()).unwrap();
    client.fill(Rect::new(0, 0, 5, 5), 0x00_00_ff);
    let b = desktop.screen.capture(corner, &scope()).unwrap();
    assert!(Arc::ptr_eq(&a.data, &b.data), "a change elsewhere does not matter");
}

#[test]
fn changes_are_told_once_and_where_they_are() {
    let x = Xvfb::start();
    let desktop = x.desktop();
    let client = Client::new(&x.display, Rect::new(10, 10, 300, 300), 0xff_00_00);
    let screen = &desktop.screen;
    let mark = screen.mark().unwrap();
    let short = || Scope::timeout(Duration::from_millis(60));
    assert_eq!(screen.wait_change(mark, None, &short()).unwrap(), None, "nothing changed");
    client.fill(Rect::new(20, 30, 40, 50), 0);
    let change = screen.wait_change(mark, None, &scope()).unwrap().expect("a change");
    assert_eq!(change.rects, [Rect::new(30, 40, 40, 50)]);
    assert!(change.mark > mark);
    let elsewhere = Some(Rect::new(500, 500, 100, 100));
    assert_eq!(screen.wait_change(mark, elsewhere, &short()).unwrap(), None);
    assert!(
        screen.wait_change(mark, Some(Rect::new(0, 0, 100, 100)), &scope()).unwrap().is_some(),
        "told again"
    );
    assert_eq!(screen.wait_change(change.mark, None, &short()).unwrap(), None);
    // Somebody waits while it happens.
    let waiting = desktop.clone();
    let waiter = std::thread::spawn(move || waiting.screen.wait_change(change.mark, None, &scope()));
    std::thread::sleep(Duration::from_millis(50));
    client.fill(Rect::new(0, 0, 10, 10), 0xff);
    let seen = waiter.join().unwrap().unwrap().expect("a change");
    assert_eq!(seen.rects, [Rect::new(10, 10, 10, 10)]);
    // Each of many changes is seen, however fast they come.
    let mut mark = screen.mark().unwrap();
    for i in 0..200 {
        client.fill(Rect::new(i, 0, 1, 1), i as u32);
        let change = screen.wait_change(mark, None, &scope()).unwrap().expect("a change");
        assert!(change.rects.contains(&Rect::new(10 + i, 10, 1, 1)), "change {i}: {:?}", change.rects);
        mark = change.mark;
    }
    let token = CancelToken::new();
    let cancelled = Scope::new(Duration::from_secs(20), token.clone());
    let waiting = desktop.clone();
    let waiter = std::thread::spawn(move || waiting.screen.wait_change(mark, None, &cancelled));
    token.cancel();
    assert!(matches!(waiter.join().unwrap(), Err(PlatformError::Cancelled)));
}

#[test]
fn a_second_monitor_is_seen_and_captured() {
    let x = Xvfb::start();
    let desktop = x.desktop();
    let one = desktop.screen.displays().unwrap();
    assert_eq!(one.len(), 1);
    assert_eq!((one[0].id, one[0].bounds), (0, Rect::new(0, 0, 1000, 700)));
    let client = Client::new(&x.display, Rect::new(650, 20, 50, 50), 0xab_cd_ef);
    let outputs = client.x.randr_get_screen_resources(client.root).unwrap().reply().unwrap().outputs;
    for (name, at, size, primary, outputs) in
        [("right", 600, 400, true, outputs), ("left", 0, 600, false, vec![])]
    {
        let info = MonitorInfo {
            name: client.atom(name),
            primary,
            automatic: false,
            x: at,
            y: 0,
            width: size,
            height: 700,
            width_in_millimeters: 100,
            height_in_millimeters: 100,
            outputs,
        };
        client.x.randr_set_monitor(client.root, info).unwrap().check().unwrap();
    }
    let two = desktop.screen.displays().unwrap();
    let seen: Vec<_> = two.iter().map(|d| (d.id, d.name.as_str(), d.bounds, d.primary)).collect();
    assert_eq!(
        seen,
        [(0, "right", Rect::new(600, 0, 400, 700), true), (1, "left", Rect::new(0, 0, 600, 700), false)]
    );
    let right = desktop.screen.capture(Area::Display(0), &scope()).unwrap();
    assert_eq!(right.area, Rect::new(600, 0, 400, 700));
    assert_eq!(pixel(&right, 50, 20), 0xab_cd_ef);
    assert_eq!(desktop.screen.capture(Area::All, &scope()).unwrap().size.width, 1000);
}

#[test]
fn enlarged_desktops_have_logical_pixels() {
    let x = Xvfb::start();
    let client = Client::new(&x.display, Rect::new(100, 100, 100, 100), 0x10_20_30);
    use x11rb::protocol::xproto::{AtomEnum, PropMode};
    use x11rb::wrapper::ConnectionExt as _;
    let (kind, text) = (AtomEnum::STRING, b"Xft.dpi:\t192\n");
    client
        .x
        .change_property8(PropMode::REPLACE, client.root, AtomEnum::RESOURCE_MANAGER, kind, text)
        .unwrap();
    client.sync();
    let desktop = x.desktop();
    let display = desktop.screen.displays().unwrap().remove(0);
    assert_eq!((display.bounds, display.scale), (Rect::new(0, 0, 500, 350), 2.0));
    let frame = desktop.screen.capture(Area::Region(Rect::new(50, 50, 10, 10)), &scope()).unwrap();
    assert_eq!((frame.size.width, frame.scale, frame.area.width), (20, 2.0, 10));
    assert_eq!(pixel(&frame, 0, 0), 0x10_20_30);
    desktop.input.move_to(deskhand_protocol::Point::new(60, 70), &scope()).unwrap();
    assert_eq!(desktop.input.pointer().unwrap(), deskhand_protocol::Point::new(60, 70));
    let real = x11rb::protocol::xproto::ConnectionExt::query_pointer(&client.x, client.root)
        .unwrap()
        .reply()
        .unwrap();
    assert_eq!((real.root_x, real.root_y), (120, 140));
}

#[test]
fn a_highlight_is_seen_lets_clicks_through_and_goes() {
    let x = Xvfb::start();
    let desktop = x.desktop();
    let client = Client::new(&x.display, Rect::new(0, 0, 500, 500), 0);
    let show =
        |rect, time| desktop.screen.highlight(&Highlight { rect, color: 0xff_00_ff, thickness: 3, time });
    let shot = || desktop.screen.capture(Area::All, &scope()).unwrap();
    show(Rect::new(100, 100, 50, 40), Duration::from_millis(400)).unwrap();
    let frame = shot();
    for (x, y) in [(98, 98), (120, 97), (152, 142), (98, 120), (151, 120)] {
        assert_eq!(pixel(&frame, x, y), 0xff_00_ff, "{x},{y}");
    }
    assert_eq!(pixel(&frame, 120, 120), 0, "only a frame");
    let at = desktop.windows.at(deskhand_protocol::Point::new(98, 120)).unwrap().expect("a window");
    assert_eq!(at.id, WindowId(client.window.into()), "the frame is not in the way");
    eventually("the highlight to go", || pixel(&shot(), 98, 98) == 0);
    // The whole screen: drawn inside it. And many at once: the oldest go.
    for _ in 0..40 {
        show(Rect::new(0, 0, 1000, 700), Duration::from_secs(60)).unwrap();
    }
    assert_eq!(pixel(&shot(), 1, 1), 0xff_00_ff);
    let tree =
        x11rb::protocol::xproto::ConnectionExt::query_tree(&client.x, client.root).unwrap().reply().unwrap();
    assert!(tree.children.len() <= 16 * 4 + 1, "{}", tree.children.len());
    assert!(show(Rect::new(0, 0, 0, 0), Duration::ZERO).is_err());
    assert_eq!(show(Rect::new(5000, 0, 9, 9), Duration::ZERO).unwrap_err().code(), ErrorCode::OutOfRange);
    let roots = client.x.setup().roots.len();
    assert_eq!(roots, 1);
}
