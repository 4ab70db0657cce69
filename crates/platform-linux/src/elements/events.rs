//! The stream of accessibility events: a ring for those who wait, and notes for the live cache.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use deskhand_platform::{ElementEvent, ElementEventKind, Mark, PlatformError, Result, Scope};

use super::app::App;
use super::conn::lock;
use super::handle;
use super::wire::{self, Incoming, Reader};

/// Events kept for those who wait.
const RING: usize = 4096;
/// Notes of one application beyond which it is cheaper to read all of it again.
const MAX_NOTES: usize = 512;

/// What events said about an application since its tree was last read.
#[derive(Debug, Default)]
pub(super) struct Notes {
    /// Elements whose children changed.
    pub(super) children: HashSet<String>,
    /// Elements whose name, states or text changed.
    pub(super) items: HashSet<String>,
    /// Something moved.
    pub(super) moved: bool,
    /// Too much to say: read all again.
    pub(super) all: bool,
}

struct Entry {
    kind: ElementEventKind,
    sender: Arc<str>,
    pid: Option<u32>,
    path: String,
    detail: String,
    at: Instant,
}

#[derive(Default)]
struct Ring {
    entries: VecDeque<Entry>,
    /// The mark after the newest entry.
    next: u64,
}

/// What all connections over time share: it outlives a bus that died, so that marks stay good.
#[derive(Default)]
pub(super) struct Hub {
    ring: Mutex<Ring>,
    woken: Condvar,
    /// Known applications by bus name.
    pub(super) apps: Mutex<HashMap<String, Arc<App>>>,
    /// Where the focus went last: bus name, object path.
    pub(super) focus: Mutex<Option<(String, String)>>,
}

impl Hub {
    /// Everything starts afresh on a new bus; the ring stays.
    pub(super) fn forget_apps(&self) {
        lock(&self.apps).clear();
        *lock(&self.focus) = None;
    }

    /// Takes in a message of the bus (reader thread: must not wait).
    pub(super) fn observe(&self, m: &Incoming<'_>) {
        if m.kind != wire::SIGNAL {
            if let Some(app) = lock(&self.apps).get(m.sender) {
                app.heard();
            }
            return;
        }
        if m.member == "NameOwnerChanged" && m.sender == "org.freedesktop.DBus" {
            let mut r = Reader::new(m.body, m.big);
            let (name, _, new) = (r.str(), r.str(), r.str());
            if new.is_empty() {
                lock(&self.apps).remove(name);
            }
            return;
        }
        let Some(family) = m.iface.strip_prefix("org.a11y.atspi.Event.") else { return };
        let mut r = Reader::new(m.body, m.big);
        let (detail, on) = if m.sig.starts_with("si") { (r.str(), r.i32()) } else { ("", 0) };
        let app = lock(&self.apps).get(m.sender).cloned();
        if let Some(app) = &app {
            app.heard();
            note(&mut lock(&app.notes), family, m.member, detail, m.path);
        }
        let focus = (m.member == "StateChanged" && detail == "focused" && on == 1) || family == "Focus";
        if focus {
            *lock(&self.focus) = Some((m.sender.to_owned(), m.path.to_owned()));
        }
        let entry = Entry {
            kind: if focus { ElementEventKind::FocusChanged } else { kind(family, m.member, detail) },
            sender: app.as_ref().map_or_else(|| Arc::from(m.sender), |a| Arc::clone(&a.bus)),
            pid: app.map(|a| a.pid),
            path: m.path.to_owned(),
            detail: format!("{family}:{}{}{detail}={on}", m.member, if detail.is_empty() { "" } else { ":" }),
            at: Instant::now(),
        };
        let mut ring = lock(&self.ring);
        ring.entries.push_back(entry);
        ring.next += 1;
        if ring.entries.len() > RING {
            ring.entries.pop_front();
        }
        drop(ring);
        self.woken.notify_all();
    }

    pub(super) fn mark(&self) -> Mark {
        Mark(lock(&self.ring).next)
    }

    /// The first event after `since` of `pid`. `pid_of` tells the process of a bus name not seen before.
    pub(super) fn wait(
        &self,
        since: Mark,
        pid: Option<u32>,
        pid_of: impl Fn(&str) -> Option<u32>,
        scope: &Scope,
    ) -> Result<Option<ElementEvent>> {
        let mut from = since.0;
        loop {
            let mut strangers = Vec::new();
            {
                let mut ring = lock(&self.ring);
                let first = ring.next - ring.entries.len() as u64;
                for i in from.max(first)..ring.next {
                    let e = &ring.entries[(i - first) as usize];
                    if pid.is_some() && e.pid.is_none() {
                        strangers.push((i, Arc::clone(&e.sender)));
                    } else if pid.is_none() || e.pid == pid {
                        if let Some((earlier, _)) = strangers.first() {
                            // A stranger's event comes first: find out who it is.
                            from = *earlier;
                            break;
                        }
                        return Ok(Some(event(e, i)));
                    }
                }
                if strangers.is_empty() {
                    from = ring.next;
                    if scope.cancel_token().is_cancelled() {
                        return Err(PlatformError::Cancelled);
                    }
                    let left = scope.remaining();
                    if left.is_zero() {
                        return Ok(None);
                    }
                    let slice = left.min(Duration::from_millis(20));
                    ring = self.woken.wait_timeout(ring, slice).unwrap_or_else(PoisonError::into_inner).0;
                    drop(ring);
                    continue;
                }
            }
            for (i, sender) in strangers {
                let found = pid_of(&sender);
                let mut ring = lock(&self.ring);
                let first = ring.next - ring.entries.len() as u64;
                if let Some(e) = i.checked_sub(first).and_then(|i| ring.entries.get_mut(i as usize)) {
                    // 0 is nobody's process: asked, and the answer was none.
                    e.pid = Some(found.unwrap_or(0));
                }
            }
        }
    }
}

fn event(e: &Entry, index: u64) -> ElementEvent {
    ElementEvent {
        kind: e.kind,
        handle: handle::make(&e.sender, &e.path),
        detail: e.detail.clone(),
        at: e.at,
        mark: Mark(index + 1),
    }
}

fn kind(family: &str, member: &str, detail: &str) -> ElementEventKind {
    match (family, member) {
        ("Object", "TextChanged") => ElementEventKind::TextChanged,
        ("Object", "StateChanged") => ElementEventKind::StateChanged,
        ("Object", "PropertyChange") if detail == "accessible-value" => ElementEventKind::ValueChanged,
        ("Object", "SelectionChanged" | "ActiveDescendantChanged" | "TextSelectionChanged") => {
            ElementEventKind::SelectionChanged
        }
        ("Object", "ChildrenChanged") => ElementEventKind::ChildrenChanged,
        ("Window", _) => ElementEventKind::WindowChanged,
        _ => ElementEventKind::Other,
    }
}

/// Writes down what an event means for a tree that was read before it.
fn note(notes: &mut Notes, family: &str, member: &str, detail: &str, path: &str) {
    if notes.all {
        return;
    }
    match (family, member) {
        ("Object", "ChildrenChanged") => {
            notes.children.insert(path.to_owned());
            notes.moved = true;
        }
        // Whole parts appear and vanish, and toolkits do not tell for each element inside.
        ("Object", "StateChanged") if matches!(detail, "showing" | "visible" | "iconified" | "expanded") => {
            notes.all = true;
        }
        ("Object", "StateChanged" | "ActiveDescendantChanged") => {
            notes.items.insert(path.to_owned());
        }
        ("Object", "PropertyChange") => {
            notes.items.insert(path.to_owned());
            // A scroll bar that moved moves what it scrolls; a name that changed may change the layout.
            notes.moved |= detail != "accessible-description";
            notes.all |= detail == "accessible-parent";
        }
        ("Object", "TextChanged") => {
            notes.items.insert(path.to_owned());
            notes.moved = true;
        }
        (
            "Object",
            "TextCaretMoved" | "TextSelectionChanged" | "TextAttributesChanged" | "AttributesChanged",
        ) => {}
        ("Object", "BoundsChanged" | "VisibleDataChanged") => notes.moved = true,
        ("Window", "Activate" | "Deactivate") => {
            notes.items.insert(path.to_owned());
        }
        ("Window", "Move" | "Resize") => notes.moved = true,
        ("Focus" | "Mouse" | "Keyboard" | "Terminal", _) => {}
        // Selections, models, rows, documents, windows that come and go, and what we have not met yet.
        _ => notes.all = true,
    }
    notes.all |= notes.children.len() + notes.items.len() > MAX_NOTES;
}
