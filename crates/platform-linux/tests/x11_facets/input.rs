//! Mouse and single keys, seen by a client.

use std::time::Duration;

use deskhand_platform::{Button, CancelToken, Input, Key, Modifier, NamedKey, PlatformError, Scope};
use deskhand_protocol::{ErrorCode, Point, Rect};
use x11rb::protocol::Event;

use crate::client::Client;
use crate::common::{Xvfb, scope};

/// What the client got. Presses are flushed, not waited for: the question about the pointer comes back
/// after them.
fn settled(input: &dyn Input, client: &Client) -> Vec<String> {
    input.pointer().unwrap();
    words(client)
}

fn words(client: &Client) -> Vec<String> {
    client
        .events()
        .into_iter()
        .filter_map(|e| match e {
            Event::ButtonPress(e) => Some(format!("+b{}", e.detail)),
            Event::ButtonRelease(e) => Some(format!("-b{}", e.detail)),
            Event::MotionNotify(e) => Some(format!("@{},{}", e.event_x, e.event_y)),
            Event::KeyPress(e) => Some(format!("+k{}/{}", e.detail, u16::from(e.state))),
            Event::KeyRelease(e) => Some(format!("-k{}", e.detail)),
            _ => None,
        })
        .collect()
}

#[test]
fn the_mouse_goes_where_it_is_sent() {
    let x = Xvfb::start();
    let desktop = x.desktop();
    let input = &desktop.input;
    let client = Client::new(&x.display, Rect::new(100, 100, 200, 200), 0);
    input.move_to(Point::new(150, 160), &scope()).unwrap();
    input.button(Button::Left, true, &scope()).unwrap();
    assert_eq!(input.held(), ["left button"]);
    input.button(Button::Left, false, &scope()).unwrap();
    input.button(Button::Right, true, &scope()).unwrap();
    input.button(Button::Right, false, &scope()).unwrap();
    assert_eq!(words(&client), ["@50,60", "+b1", "-b1", "+b3", "-b3"]);
    assert_eq!(input.pointer().unwrap(), Point::new(150, 160));
    assert_eq!(input.wheel(0, 300, &scope()).unwrap(), (0, 320));
    assert_eq!(words(&client), ["+b5", "-b5"].repeat(8));
    assert_eq!(input.wheel(-1, -90, &scope()).unwrap(), (-40, -80));
    assert_eq!(words(&client), ["+b4", "-b4", "+b4", "-b4", "+b6", "-b6"]);
    assert_eq!(input.wheel(0, 0, &scope()).unwrap(), (0, 0));
    assert_eq!(input.wheel(0, i32::MIN, &scope()).unwrap(), (0, -10_000), "bounded");
    for bad in [Point::new(1000, 0), Point::new(-1, 5), Point::new(i32::MAX, i32::MIN)] {
        assert_eq!(input.move_to(bad, &scope()).unwrap_err().code(), ErrorCode::OutOfRange, "{bad:?}");
    }
    assert_eq!(input.pointer().unwrap(), Point::new(150, 160));
}

#[test]
fn chords_go_down_in_order_and_up_in_reverse() {
    let x = Xvfb::start();
    let desktop = x.desktop();
    let client = Client::new(&x.display, Rect::new(0, 0, 200, 200), 0);
    client.focus();
    let ctrl = Key::Modifier(Modifier::Ctrl);
    desktop.input.chord(&[ctrl, Key::Char('c')], &scope()).unwrap();
    assert_eq!(words(&client), ["+k37/0", "+k54/4", "-k54", "-k37"]);
    // A character of the second level brings its Shift along.
    desktop.input.chord(&[ctrl, Key::Char('+')], &scope()).unwrap();
    assert_eq!(words(&client), ["+k37/0", "+k50/4", "+k21/5", "-k21", "-k50", "-k37"]);
    desktop.input.chord(&[Key::Named(NamedKey::F(5))], &scope()).unwrap();
    assert_eq!(words(&client), ["+k71/0", "-k71"]);
    for key in [NamedKey::Enter, NamedKey::Tab, NamedKey::Escape, NamedKey::PageDown, NamedKey::VolumeUp] {
        desktop.input.chord(&[Key::Named(key)], &scope()).unwrap();
        assert_eq!(words(&client).len(), 2, "{key:?}");
    }
    // A key no layout has is lent a keycode for the time it is down.
    let before = x.output("xmodmap", &["-pke"]);
    for key in [Key::Char('世'), Key::Named(NamedKey::F(24))] {
        desktop.input.chord(&[Key::Modifier(Modifier::Alt), key], &scope()).unwrap();
        assert_eq!(words(&client).len(), 4, "{key:?}");
    }
    assert_eq!(x.output("xmodmap", &["-pke"]), before, "the keymap is as before");
    assert!(desktop.input.held().is_empty());
}

#[test]
fn everything_held_is_named_and_released() {
    let x = Xvfb::start();
    let desktop = x.desktop();
    let client = Client::new(&x.display, Rect::new(0, 0, 200, 200), 0);
    client.focus();
    let input = &desktop.input;
    input.move_to(Point::new(9, 9), &scope()).unwrap();
    input.key(Key::Modifier(Modifier::Shift), true, &scope()).unwrap();
    input.key(Key::Char('a'), true, &scope()).unwrap();
    input.button(Button::Middle, true, &scope()).unwrap();
    assert_eq!(input.held(), ["shift", "a", "middle button"]);
    settled(input.as_ref(), &client);
    assert_eq!(input.release_all().unwrap(), ["shift", "a", "middle button"]);
    assert_eq!(words(&client), ["-b2", "-k38", "-k50"]);
    assert!(input.held().is_empty() && input.release_all().unwrap().is_empty());
    // A cancelled chord leaves nothing down and sends nothing.
    let token = CancelToken::new();
    token.cancel();
    let over = Scope::new(Duration::from_secs(9), token);
    let result = input.chord(&[Key::Modifier(Modifier::Ctrl), Key::Char('q')], &over);
    assert!(matches!(result, Err(PlatformError::Cancelled)));
    assert!(words(&client).is_empty());
    // What is held goes up when the desktop is dropped.
    input.key(Key::Modifier(Modifier::Ctrl), true, &scope()).unwrap();
    assert_eq!(settled(input.as_ref(), &client), ["+k37/0"]);
    drop(desktop);
    assert_eq!(words(&client), ["-k37"]);
}

#[test]
fn chords_follow_the_layout() {
    let x = Xvfb::start();
    let desktop = x.desktop();
    let client = Client::new(&x.display, Rect::new(0, 0, 200, 200), 0);
    client.focus();
    // On a French keyboard `a` is where `q` is on an American one; under Russian, `c` is only in the
    // other group of "us,ru" and keeps its place.
    for (layout, key, code) in [("us", 'a', 38), ("fr", 'a', 24), ("de", 'z', 29), ("us,ru", 'c', 54)] {
        x.output("setxkbmap", &[layout]);
        if layout == "us,ru" {
            lock_group(&client, 1);
        }
        words(&client);
        desktop.input.chord(&[Key::Modifier(Modifier::Ctrl), Key::Char(key)], &scope()).unwrap();
        let seen = words(&client);
        assert!(seen[1].starts_with(&format!("+k{code}/")), "{layout} {key}: {seen:?}");
    }
}

/// Makes another layout of the keyboard the active one.
pub fn lock_group(client: &Client, group: u8) {
    use x11rb::protocol::xkb::ConnectionExt as _;
    use x11rb::protocol::xproto::ModMask;
    client.x.xkb_use_extension(1, 0).unwrap().reply().unwrap();
    let none = ModMask::from(0u16);
    client
        .x
        .xkb_latch_lock_state(0x100, none, none, true, group.into(), none, false, 0)
        .unwrap()
        .check()
        .unwrap();
}

/// Turns Caps Lock on or off; tells whether it is on.
pub fn caps(client: &Client, on: Option<bool>) -> bool {
    use x11rb::protocol::xkb::{ConnectionExt as _, Group};
    use x11rb::protocol::xproto::ModMask;
    client.x.xkb_use_extension(1, 0).unwrap().reply().unwrap();
    let none = ModMask::from(0u16);
    if let Some(on) = on {
        let want = if on { ModMask::LOCK } else { none };
        client
            .x
            .xkb_latch_lock_state(0x100, ModMask::LOCK, want, false, Group::M1, none, false, 0)
            .unwrap()
            .check()
            .unwrap();
    }
    let state = client.x.xkb_get_state(0x100).unwrap().reply().unwrap();
    u16::from(state.locked_mods) & 2 != 0
}
