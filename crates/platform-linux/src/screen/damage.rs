//! The stream of changes: XDamage on the root window, on a connection and a thread of its own.
//!
//! The server tells once that there is damage; we then take all of it and clear it in one step
//! (subtract, fetch). So nothing is lost between two readings however much is drawn, and the cost is
//! bounded by our own pace, not by the applications'. Whoever needs to be sure (`sync`) does the same
//! step: after it, all that was drawn before is in the ring.

use std::collections::VecDeque;
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use deskhand_platform::{PlatformError, Result, Scope};
use deskhand_protocol::Rect;
use rustix::event::PollFlags;
use rustix::net::{Shutdown, shutdown};
use x11rb::connection::Connection;
use x11rb::protocol::damage::{self, ConnectionExt as _, ReportLevel};
use x11rb::protocol::xfixes::{self, ConnectionExt as _};

use crate::x11::{Conn, Reply, stream_wait};

const DOING: &str = "watching the screen";
/// Rectangles kept; older ones are reported as "the whole screen changed".
const RING: usize = 1024;
/// Rectangles taken from one reading before their surrounding rectangle is used instead.
const PER_READING: usize = 64;
/// Rectangles in one answer.
const PER_ANSWER: usize = 32;
/// How often a waiting caller looks whether it was cancelled.
const SLICE: Duration = Duration::from_millis(10);
/// Pause between readings while nobody waits: pixels that play for nobody cost next to nothing.
const LAZY: Duration = Duration::from_millis(10);

struct Tap {
    conn: Conn,
    damage: damage::Damage,
    region: xfixes::Region,
}

struct Entry {
    seq: u64,
    at: Instant,
    rect: Rect,
}

#[derive(Default)]
struct Ring {
    seq: u64,
    /// Entries up to this number are gone.
    lost: u64,
    entries: VecDeque<Entry>,
    /// Where the screen is, for what was lost.
    whole: Rect,
}

impl Ring {
    fn push(&mut self, rects: &[Rect]) {
        let at = Instant::now();
        for &rect in rects {
            self.seq += 1;
            if self.entries.len() == RING
                && let Some(old) = self.entries.pop_front()
            {
                self.lost = old.seq;
            }
            self.entries.push_back(Entry { seq: self.seq, at, rect });
        }
    }

    /// What changed after `since` inside `within`.
    fn after(&self, since: u64, within: Option<Rect>) -> Option<(Vec<Rect>, Instant)> {
        let mut rects = Vec::new();
        let mut first = None;
        if since < self.lost {
            rects.push(self.whole);
            first = self.entries.front().map(|e| e.at);
        }
        let start = self.entries.partition_point(|e| e.seq <= since);
        for entry in self.entries.range(start..) {
            let inside = within.is_none_or(|w| w.intersect(&entry.rect).is_some());
            if inside {
                first = first.or(Some(entry.at));
                rects.push(entry.rect);
            }
        }
        if rects.is_empty() { None } else { Some((merge(rects), first.unwrap_or_else(Instant::now))) }
    }
}

/// The changes of one screen, physical pixels.
pub(crate) struct Changes {
    display: Option<String>,
    tap: Mutex<Option<Arc<Tap>>>,
    ring: Mutex<Ring>,
    changed: Condvar,
    waiting: AtomicUsize,
    closed: AtomicBool,
}

/// What changed.
pub(crate) struct Changed {
    pub(crate) rects: Vec<Rect>,
    pub(crate) at: Instant,
    pub(crate) seq: u64,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Changes {
    pub(crate) fn new(display: Option<String>) -> Arc<Self> {
        Arc::new(Self {
            display,
            tap: Mutex::default(),
            ring: Mutex::default(),
            changed: Condvar::new(),
            waiting: AtomicUsize::new(0),
            closed: AtomicBool::new(false),
        })
    }

    /// The present place, with everything drawn before it counted.
    pub(crate) fn sync(self: &Arc<Self>) -> Result<u64> {
        let mut slot = lock(&self.tap);
        let live = slot.as_ref().filter(|t| !crate::x11::hung_up(t.conn.x.stream().as_fd()));
        let tap = match live {
            Some(tap) => Arc::clone(tap),
            None => {
                *slot = None;
                let tap = Arc::new(self.open()?);
                *slot = Some(Arc::clone(&tap));
                self.spawn(Arc::clone(&tap))?;
                tap
            }
        };
        if let Err(e) = self.read(&tap) {
            *slot = None;
            return Err(e);
        }
        drop(slot);
        Ok(lock(&self.ring).seq)
    }

    /// Whether anything inside `rect` changed after `since`; call `sync` first.
    pub(crate) fn touched(&self, since: u64, rect: Rect) -> bool {
        lock(&self.ring).after(since, Some(rect)).is_some()
    }

    /// Waits for a change; `None` when the scope ended first.
    pub(crate) fn wait(
        self: &Arc<Self>,
        since: u64,
        within: Option<Rect>,
        scope: &Scope,
    ) -> Result<Option<Changed>> {
        self.waiting.fetch_add(1, Ordering::SeqCst);
        let result = self.wait_counted(since, within, scope);
        self.waiting.fetch_sub(1, Ordering::SeqCst);
        result
    }

    fn wait_counted(
        self: &Arc<Self>,
        since: u64,
        within: Option<Rect>,
        scope: &Scope,
    ) -> Result<Option<Changed>> {
        self.sync()?;
        loop {
            if scope.cancel_token().is_cancelled() {
                return Err(PlatformError::Cancelled);
            }
            let left = scope.remaining();
            {
                let ring = lock(&self.ring);
                if let Some((rects, at)) = ring.after(since, within) {
                    return Ok(Some(Changed { rects, at, seq: ring.seq }));
                }
                if left.is_zero() {
                    return Ok(None);
                }
                drop(
                    self.changed.wait_timeout(ring, left.min(SLICE)).unwrap_or_else(PoisonError::into_inner),
                );
            }
            if lock(&self.tap).is_none() {
                // The server went away while we waited: an error if it stays away, else a fresh start.
                self.sync()?;
            }
        }
    }

    fn open(&self) -> Result<Tap> {
        let conn = Conn::open(self.display.as_deref())?;
        for name in [damage::X11_EXTENSION_NAME, xfixes::X11_EXTENSION_NAME] {
            if !conn.has(name)? {
                return Err(PlatformError::Unsupported {
                    what: "change detection".into(),
                    why: format!("the X server lacks the {name} extension"),
                });
            }
        }
        conn.x.xfixes_query_version(5, 0).wait(DOING)?;
        conn.x.damage_query_version(1, 1).wait(DOING)?;
        let (damage, region) = (conn.id()?, conn.id()?);
        conn.x.xfixes_create_region(region, &[]).wait(DOING)?;
        conn.x.damage_create(damage, conn.root, ReportLevel::NON_EMPTY).wait(DOING)?;
        // A new damage object starts with the whole window; that is no change.
        conn.x.damage_subtract(damage, x11rb::NONE, x11rb::NONE).wait(DOING)?;
        while conn.x.poll_for_event().map_err(|e| PlatformError::display(DOING, e))?.is_some() {}
        let screen = conn.setup_screen();
        let whole = Rect::new(0, 0, screen.width_in_pixels.into(), screen.height_in_pixels.into());
        let mut ring = lock(&self.ring);
        ring.whole = whole;
        if ring.seq > 0 {
            ring.push(&[whole]); // Connected again: nobody knows what was missed.
        } else {
            ring.seq = 1;
        }
        drop(ring);
        Ok(Tap { conn, damage, region })
    }

    /// Takes all damage there is. Every event that arrived on the way was read by us and would not
    /// wake the thread, so it goes round until none did.
    fn read(&self, tap: &Tap) -> Result<()> {
        loop {
            let x = &tap.conn.x;
            x.damage_subtract(tap.damage, x11rb::NONE, tap.region)
                .map_err(|e| PlatformError::display(DOING, e))?;
            let reply = x.xfixes_fetch_region(tap.region).wait(DOING)?;
            if !reply.rectangles.is_empty() {
                let plain = |r: &x11rb::protocol::xproto::Rectangle| {
                    Rect::new(r.x.into(), r.y.into(), r.width.into(), r.height.into())
                };
                let rects: Vec<Rect> = if reply.rectangles.len() > PER_READING {
                    vec![plain(&reply.extents)]
                } else {
                    reply.rectangles.iter().map(plain).collect()
                };
                lock(&self.ring).push(&rects);
                self.changed.notify_all();
            }
            let mut again = false;
            while x.poll_for_event().map_err(|e| PlatformError::display(DOING, e))?.is_some() {
                again = true;
            }
            if !again {
                return Ok(());
            }
        }
    }

    fn spawn(self: &Arc<Self>, tap: Arc<Tap>) -> Result<()> {
        let this = Arc::clone(self);
        std::thread::Builder::new()
            .name("damage".into())
            .stack_size(128 * 1024)
            .spawn(move || this.run(&tap))
            .map(drop)
            .map_err(|e| PlatformError::other("starting the damage thread", e))
    }

    fn run(&self, tap: &Arc<Tap>) {
        let mine = |slot: &Option<Arc<Tap>>| slot.as_ref().is_some_and(|t| Arc::ptr_eq(t, tap));
        loop {
            let _ = stream_wait(tap.conn.x.stream().as_fd(), PollFlags::IN, None);
            if self.closed.load(Ordering::SeqCst) {
                return;
            }
            let mut slot = lock(&self.tap);
            if !mine(&slot) {
                return;
            }
            if self.read(tap).is_err() {
                *slot = None;
                drop(slot);
                self.changed.notify_all();
                return;
            }
            drop(slot);
            if self.waiting.load(Ordering::SeqCst) == 0 {
                std::thread::sleep(LAZY);
            }
        }
    }

    /// Ends the thread.
    pub(crate) fn close(&self) {
        self.closed.store(true, Ordering::SeqCst);
        if let Some(tap) = lock(&self.tap).take() {
            let _ = shutdown(tap.conn.x.stream().as_fd(), Shutdown::Both);
        }
    }
}

/// Joins rectangles that touch, then the closest ones until few are left.
fn merge(mut rects: Vec<Rect>) -> Vec<Rect> {
    let area = |r: &Rect| i64::from(r.width) * i64::from(r.height);
    let mut out: Vec<Rect> = Vec::new();
    while let Some(mut rect) = rects.pop() {
        let mut i = 0;
        while i < out.len() {
            let union = rect.union(&out[i]);
            // Join when the union wastes nothing to speak of.
            if area(&union) <= area(&rect) + area(&out[i]) {
                rect = union;
                out.swap_remove(i);
                i = 0;
            } else {
                i += 1;
            }
        }
        out.push(rect);
        if out.len() > PER_ANSWER {
            let last = out.len() - 1;
            let near = (0..last).min_by_key(|&i| area(&out[i].union(&out[last])) - area(&out[i]));
            if let (Some(near), Some(rect)) = (near, out.pop()) {
                out[near] = out[near].union(&rect);
            }
        }
    }
    out.sort_by_key(|r| (r.y, r.x));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merged_rectangles_cover_all_and_are_few() {
        let many: Vec<Rect> = (0..100).map(|i| Rect::new((i % 10) * 100, (i / 10) * 100, 7, 7)).collect();
        let merged = merge(many.clone());
        assert!(merged.len() <= PER_ANSWER, "{}", merged.len());
        for rect in &many {
            assert!(merged.iter().any(|m| m.contains_rect(rect)), "{rect:?} is not covered");
        }
        let joined = merge(vec![Rect::new(0, 0, 10, 10), Rect::new(10, 0, 10, 10), Rect::new(2, 2, 3, 3)]);
        assert_eq!(joined, [Rect::new(0, 0, 20, 10)]);
    }

    #[test]
    fn what_was_lost_is_told_as_the_whole_screen() {
        let mut ring = Ring { whole: Rect::new(0, 0, 640, 480), seq: 1, ..Ring::default() };
        for i in 0..(RING as i32 + 10) {
            ring.push(&[Rect::new(i % 600, 0, 1, 1)]);
        }
        let (rects, _) = ring.after(1, Some(Rect::new(0, 400, 5, 5))).expect("lost changes are told");
        assert_eq!(rects, [ring.whole]);
        assert!(ring.after(ring.seq, None).is_none());
        assert!(ring.after(ring.seq - 1, Some(Rect::new(0, 400, 5, 5))).is_none());
    }
}
