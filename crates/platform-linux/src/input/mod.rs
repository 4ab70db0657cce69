//! Hands: mouse and keyboard through XTEST.
//!
//! Events are flushed when a call returns. A round trip is made where an action ends (a button or key
//! goes up, a text is typed), so that whoever looks afterwards looks at a server that has handled it.

mod barrier;
mod borrow;
mod events;
mod keymap;
mod names;
mod typing;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use deskhand_platform::{Button, Input, Key, PlatformError, Result, Scope};
use deskhand_protocol::Point;
use x11rb::connection::Connection;
use x11rb::protocol::xkb::ConnectionExt as _;
use x11rb::protocol::xproto::ConnectionExt as _;
use x11rb::protocol::xtest;

use self::borrow::Borrowed;
use self::events::{Events, Kind};
use self::keymap::{KEYBOARD, Keymap, Stroke};
use crate::screen::{Displays, Layout};
use crate::x11::{Conn, Link, Reply};

/// Logical pixels one notch of the wheel stands for. Toolkits scroll about three lines by it.
const NOTCH: i32 = 40;
/// Notches sent in one call at most, per direction.
const NOTCHES: i32 = 250;
/// How long the size of the desktop is taken for known.
const FRESH: Duration = Duration::from_secs(1);

/// Something held down.
enum Held {
    Button(Button),
    Key { key: Key, codes: Vec<u8>, borrowed: Option<Borrowed> },
}

/// What is known about one connection.
struct Known {
    conn: usize,
    keymap: Option<Arc<Keymap>>,
    watching: bool,
    layout: Option<(Instant, Layout)>,
}

struct State {
    held: Vec<Held>,
    known: Known,
}

/// The input facet on X11.
pub(crate) struct X11Input {
    link: Arc<Link>,
    displays: Arc<Displays>,
    state: Mutex<State>,
    /// One text at a time: two would lend the same keycodes.
    typing: Mutex<()>,
}

impl X11Input {
    /// `link` should be its own: it hears about keyboard changes.
    pub(crate) fn new(link: Arc<Link>, displays: Arc<Displays>) -> Self {
        let known = Known { conn: 0, keymap: None, watching: false, layout: None };
        Self {
            link,
            displays,
            state: Mutex::new(State { held: Vec::new(), known }),
            typing: Mutex::default(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs `work` on a connection that has XTEST.
    fn with<T>(&self, work: impl FnOnce(&Arc<Conn>) -> Result<T>) -> Result<T> {
        self.link.with(|conn| {
            let key = Arc::as_ptr(conn) as usize;
            {
                let mut state = self.state();
                if state.known.conn != key {
                    if !conn.has(xtest::X11_EXTENSION_NAME)? {
                        return Err(PlatformError::Unsupported {
                            what: "mouse and keyboard input".into(),
                            why: "the X server lacks the XTEST extension".into(),
                        });
                    }
                    // A new server knows nothing of what was held on the old one.
                    state.held.clear();
                    state.known = Known { conn: key, keymap: None, watching: false, layout: None };
                }
            }
            work(conn)
        })
    }

    /// The keyboard map, read again when the server told of a change; and the state of the keyboard.
    fn keymap(&self, conn: &Conn) -> Result<(Arc<Keymap>, u8, u8)> {
        let mut state = self.state();
        if !state.known.watching {
            keymap::watch(conn)?;
            state.known.watching = true;
        }
        let now = conn.x.xkb_get_state(KEYBOARD).wait("reading the keyboard")?;
        // The reply came after every notice the server had sent before it.
        while let Some(_notice) =
            conn.x.poll_for_event().map_err(|e| PlatformError::display("reading the keyboard", e))?
        {
            state.known.keymap = None;
        }
        let keymap = match &state.known.keymap {
            Some(keymap) => Arc::clone(keymap),
            None => {
                let keymap = Arc::new(Keymap::load(conn)?);
                state.known.keymap = Some(Arc::clone(&keymap));
                keymap
            }
        };
        Ok((keymap, u8::from(now.group), u16::from(now.locked_mods) as u8))
    }

    fn layout(&self, conn: &Conn, fresh: bool) -> Result<Layout> {
        let mut state = self.state();
        if let Some((at, layout)) = &state.known.layout
            && !fresh
            && at.elapsed() < FRESH
        {
            return Ok(layout.clone());
        }
        let layout = self.displays.layout(conn)?;
        state.known.layout = Some((Instant::now(), layout.clone()));
        Ok(layout)
    }

    /// The keycodes of a key, in the order they go down; lends one when the layout has none.
    fn resolve(&self, conn: &Conn, key: Key, scope: &Scope) -> Result<(Vec<u8>, Option<Borrowed>)> {
        let (keymap, group, locked) = self.keymap(conn)?;
        let symbols = names::symbols(key);
        let stroke = match key {
            Key::Char(c) if !c.is_control() => keymap.characters(group, locked).get(&c).copied(),
            _ => None,
        };
        let stroke = stroke.or_else(|| symbols.iter().find_map(|&s| keymap.find(s, group, locked)));
        if let Some(Stroke { code, mods }) = stroke {
            let mut codes: Vec<u8> =
                (0..8).filter(|bit| mods & (1 << bit) != 0).filter_map(|bit| keymap.holder(bit)).collect();
            codes.push(code);
            return Ok((codes, None));
        }
        if let Key::Modifier(_) = key {
            return Err(PlatformError::Unsupported {
                what: format!("the {} key", names::name(key)),
                why: "the keyboard layout has no such key".into(),
            });
        }
        let mut borrowed = Borrowed::new(&keymap.spare);
        borrowed.lend(conn, &symbols[..1], scope)?;
        let code = borrowed.take(symbols[0]).map(|(code, _)| code).into_iter().collect();
        Ok((code, Some(borrowed)))
    }

    fn press(&self, conn: &Conn, key: Key, scope: &Scope) -> Result<()> {
        scope.check("pressing a key")?;
        if self.state().held.iter().any(|h| matches!(h, Held::Key { key: k, .. } if *k == key)) {
            return Ok(()); // It is down already; twice down would be up too early.
        }
        let (codes, mut borrowed) = self.resolve(conn, key, scope)?;
        if let Err(e) = scope.check("pressing a key") {
            if let Some(b) = &mut borrowed {
                b.give_back(conn, true)?;
            }
            return Err(e);
        }
        let events = Events(conn);
        let mut state = self.state();
        for &code in &codes {
            events.send(Kind::KeyDown, code)?;
        }
        state.held.push(Held::Key { key, codes, borrowed });
        conn.flush("pressing a key")
    }

    fn lift(&self, conn: &Conn, key: Key, scope: &Scope) -> Result<()> {
        let held = {
            let mut state = self.state();
            let at = state.held.iter().position(|h| matches!(h, Held::Key { key: k, .. } if *k == key));
            at.map(|i| state.held.remove(i))
        };
        match held {
            Some(held) => self.let_go(conn, held),
            None => {
                // Not ours: release it all the same, somebody may have left it down.
                let (codes, borrowed) = self.resolve(conn, key, scope)?;
                self.let_go(conn, Held::Key { key, codes, borrowed })
            }
        }
    }

    fn let_go(&self, conn: &Conn, held: Held) -> Result<()> {
        let events = Events(conn);
        match held {
            Held::Button(button) => events.send(Kind::ButtonUp, names::button_number(button))?,
            Held::Key { codes, borrowed, .. } => {
                for &code in codes.iter().rev() {
                    events.send(Kind::KeyUp, code)?;
                }
                if let Some(mut borrowed) = borrowed {
                    conn.flush("releasing a key")?;
                    borrowed.give_back(conn, false)?;
                }
            }
        }
        conn.sync("releasing")
    }
}

impl Drop for X11Input {
    fn drop(&mut self) {
        let _ = self.release_all();
    }
}

impl Input for X11Input {
    fn pointer(&self) -> Result<Point> {
        self.with(|conn| {
            let reply = conn.x.query_pointer(conn.root).wait("reading the pointer")?;
            Ok(conn.scale().point_down(Point::new(reply.root_x.into(), reply.root_y.into())))
        })
    }

    fn move_to(&self, to: Point, scope: &Scope) -> Result<()> {
        scope.check("moving the pointer")?;
        self.with(|conn| {
            let mut layout = self.layout(conn, false)?;
            let mut physical = layout.scale.point_up(to);
            if !layout.root.contains(physical) {
                layout = self.layout(conn, true)?;
                physical = layout.scale.point_up(to);
                if !layout.root.contains(physical) {
                    return Err(PlatformError::OutOfRange { what: format!("point {},{}", to.x, to.y) });
                }
            }
            Events(conn).motion(physical)?;
            conn.flush("moving the pointer")
        })
    }

    fn button(&self, button: Button, down: bool, scope: &Scope) -> Result<()> {
        if down {
            scope.check("pressing a button")?;
        }
        self.with(|conn| {
            let mut state = self.state();
            let at = state.held.iter().position(|h| matches!(h, Held::Button(b) if *b == button));
            if down {
                Events(conn).send(Kind::ButtonDown, names::button_number(button))?;
                if at.is_none() {
                    state.held.push(Held::Button(button));
                }
                return conn.flush("pressing a button");
            }
            if let Some(at) = at {
                state.held.remove(at);
            }
            drop(state);
            self.let_go(conn, Held::Button(button))
        })
    }

    fn wheel(&self, dx: i32, dy: i32, scope: &Scope) -> Result<(i32, i32)> {
        let notches = |d: i32| {
            let whole = (d.unsigned_abs() as f64 / f64::from(NOTCH)).round() as i32;
            if d == 0 { 0 } else { whole.clamp(1, NOTCHES) * d.signum() }
        };
        let (nx, ny) = (notches(dx), notches(dy));
        self.with(|conn| {
            let events = Events(conn);
            for (n, back, forth) in [(ny, 4, 5), (nx, 6, 7)] {
                let button = if n < 0 { back } else { forth };
                for _ in 0..n.abs() {
                    scope.check("scrolling")?;
                    events.send(Kind::ButtonDown, button)?;
                    events.send(Kind::ButtonUp, button)?;
                    conn.flush("scrolling")?;
                }
            }
            conn.sync("scrolling")?;
            Ok((nx * NOTCH, ny * NOTCH))
        })
    }

    fn key(&self, key: Key, down: bool, scope: &Scope) -> Result<()> {
        self.with(|conn| if down { self.press(conn, key, scope) } else { self.lift(conn, key, scope) })
    }

    fn chord(&self, keys: &[Key], scope: &Scope) -> Result<()> {
        self.with(|conn| {
            let mut down = Vec::new();
            let mut result = Ok(());
            for &key in keys {
                result = self.press(conn, key, scope);
                if result.is_err() {
                    break;
                }
                down.push(key);
            }
            // What went down comes up, whatever happened.
            for &key in down.iter().rev() {
                let up = self.lift(conn, key, scope);
                result = result.and(up);
            }
            result
        })
    }

    fn type_keys(
        &self,
        text: &str,
        delay: Duration,
        progress: &mut dyn FnMut(usize),
        scope: &Scope,
    ) -> Result<usize> {
        let _one = self.typing.lock().unwrap_or_else(PoisonError::into_inner);
        scope.check("typing")?;
        self.with(|conn| {
            let (keymap, ..) = self.keymap(conn)?;
            let result = typing::type_text(conn, &keymap, text, delay, progress, scope);
            // It may have read notices of the keyboard among others: look again next time.
            self.state().known.keymap = None;
            result
        })
    }

    fn release_all(&self) -> Result<Vec<String>> {
        let held: Vec<Held> = {
            let mut state = self.state();
            state.held.drain(..).collect()
        };
        if held.is_empty() {
            return Ok(Vec::new());
        }
        let names = held.iter().map(held_name).collect();
        self.with(|conn| held.into_iter().rev().try_for_each(|h| self.let_go(conn, h)))?;
        Ok(names)
    }

    fn held(&self) -> Vec<String> {
        self.state().held.iter().map(held_name).collect()
    }
}

fn held_name(held: &Held) -> String {
    match held {
        Held::Button(b) => names::button_name(*b),
        Held::Key { key, .. } => names::name(*key),
    }
}
