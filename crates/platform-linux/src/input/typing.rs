//! Text as key events.

use std::collections::HashMap;
use std::time::Duration;

use deskhand_platform::{Key, NamedKey, PlatformError, Result, Scope};
use x11rb::protocol::xkb::{ConnectionExt as _, Group};
use x11rb::protocol::xproto::ModMask;

use super::borrow::Borrowed;
use super::events::{Events, Kind};
use super::keymap::{KEYBOARD, Keymap, Stroke, symbol};
use super::names;
use crate::x11::{Conn, Reply};

const DOING: &str = "typing";
/// Characters between two round trips: keeps us in step with the server.
const IN_STEP: usize = 16;

/// What to do for one character.
#[derive(Clone, Copy)]
enum Step {
    Stroke(Stroke),
    Borrow(u32),
    Nothing,
}

/// Types `text`; see [`deskhand_platform::Input::type_keys`].
pub(super) fn type_text(
    conn: &Conn,
    keymap: &Keymap,
    text: &str,
    delay: Duration,
    progress: &mut dyn FnMut(usize),
    scope: &Scope,
) -> Result<usize> {
    let state = conn.x.xkb_get_state(KEYBOARD).wait(DOING)?;
    let caps = u16::from(state.locked_mods) & u16::from(ModMask::LOCK) != 0;
    let locked = (u16::from(state.locked_mods) & !u16::from(ModMask::LOCK)) as u8;
    let group = u8::from(state.group);
    let steps = plan(keymap, text, group, locked)?;
    let mut borrowed = Borrowed::new(&keymap.spare);
    // Caps Lock turns letters round, on borrowed keys too: off while we type.
    if caps {
        lock_caps(conn, false)?;
    }
    let result = run(conn, keymap, &steps, &mut borrowed, delay, progress, scope);
    let given = borrowed.give_back(conn, result.is_err());
    let caps = if caps { lock_caps(conn, true) } else { Ok(()) };
    let sent = result?;
    given?;
    caps?;
    conn.sync(DOING)?;
    Ok(sent)
}

fn lock_caps(conn: &Conn, on: bool) -> Result<()> {
    let lock = ModMask::LOCK;
    let want = if on { lock } else { ModMask::from(0u16) };
    conn.x
        .xkb_latch_lock_state(KEYBOARD, lock, want, false, Group::M1, ModMask::from(0u16), false, 0)
        .wait(DOING)
}

/// What each character takes. Nothing is sent when one cannot be typed at all.
fn plan(keymap: &Keymap, text: &str, group: u8, locked: u8) -> Result<Vec<Step>> {
    let direct: HashMap<char, Stroke> = keymap.characters(group, locked);
    let named = |key: NamedKey| {
        let symbol = names::symbols(Key::Named(key))[0];
        keymap.find(symbol, group, locked).map_or(Step::Borrow(symbol), Step::Stroke)
    };
    let (enter, tab) = (named(NamedKey::Enter), named(NamedKey::Tab));
    let mut steps = Vec::with_capacity(text.len());
    let mut chars = text.chars().enumerate().peekable();
    while let Some((at, c)) = chars.next() {
        steps.push(match c {
            '\r' if chars.peek().is_some_and(|(_, n)| *n == '\n') => Step::Nothing,
            '\n' | '\r' => enter,
            '\t' => tab,
            c if c.is_control() => {
                return Err(PlatformError::Invalid {
                    field: "text".into(),
                    why: format!(
                        "character {at} is U+{:04X}, a control character; press it as a key",
                        u32::from(c)
                    ),
                });
            }
            c => direct.get(&c).copied().map_or(Step::Borrow(symbol(c)), Step::Stroke),
        });
    }
    Ok(steps)
}

fn run(
    conn: &Conn,
    keymap: &Keymap,
    steps: &[Step],
    borrowed: &mut Borrowed,
    delay: Duration,
    progress: &mut dyn FnMut(usize),
    scope: &Scope,
) -> Result<usize> {
    let events = Events(conn);
    for (at, step) in steps.iter().enumerate() {
        scope.check(DOING)?;
        let stroke = match *step {
            Step::Nothing => continue,
            Step::Stroke(stroke) => stroke,
            Step::Borrow(symbol) => {
                if !borrowed.has(symbol) {
                    borrowed.prepare(conn)?;
                    let wanted = ahead(&steps[at..], borrowed.batch());
                    borrowed.lend(conn, &wanted, scope)?;
                    scope.check(DOING)?;
                }
                let (code, shift) = borrowed.take(symbol).ok_or_else(|| PlatformError::Unsupported {
                    what: format!("typing symbol {symbol:#x}"),
                    why: "no keycode could be lent to it".into(),
                })?;
                Stroke { code, mods: if shift { u16::from(ModMask::SHIFT) as u8 } else { 0 } }
            }
        };
        press_and_release(&events, keymap, stroke)?;
        conn.flush(DOING)?;
        if at % IN_STEP == IN_STEP - 1 {
            conn.sync(DOING)?;
        }
        progress(at + 1);
        if !delay.is_zero() && at + 1 < steps.len() {
            scope.sleep(delay, DOING)?;
        }
    }
    Ok(steps.len())
}

/// The different symbols the coming characters need, at most `most`.
fn ahead(steps: &[Step], most: usize) -> Vec<u32> {
    let mut wanted = Vec::new();
    for step in steps {
        if let Step::Borrow(symbol) = *step
            && !wanted.contains(&symbol)
        {
            if wanted.len() == most {
                break;
            }
            wanted.push(symbol);
        }
    }
    wanted
}

fn press_and_release(events: &Events<'_>, keymap: &Keymap, stroke: Stroke) -> Result<()> {
    let holders = (0..8).filter(|bit| stroke.mods & (1 << bit) != 0).filter_map(|bit| keymap.holder(bit));
    let mut down: Vec<u8> = holders.collect();
    down.push(stroke.code);
    for &code in &down {
        events.send(Kind::KeyDown, code)?;
    }
    for &code in down.iter().rev() {
        events.send(Kind::KeyUp, code)?;
    }
    Ok(())
}
