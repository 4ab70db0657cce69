//! Eyes: displays, captures, changes and frames on the screen.

mod damage;
mod displays;
mod highlight;
mod shm;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use deskhand_platform::{
    Area, Change, Display, Frame, Highlight, Mark, PlatformError, Result, Scope, Screen,
};
use deskhand_protocol::{Rect, Size};

use self::damage::Changes;
pub(crate) use self::displays::{Displays, Layout};
use self::highlight::Highlights;
use self::shm::Grabber;
use crate::windows;
use crate::x11::{Conn, Link};

/// Buffers are given back when nobody has captured for this long.
const IDLE: Duration = Duration::from_secs(5);
/// Buffers kept to be used again.
const POOL: usize = 2;

/// The last capture, to be handed out again while nothing changed under it.
struct Last {
    rect: Rect,
    seq: u64,
    conn: usize,
    data: Arc<Vec<u8>>,
}

#[derive(Default)]
struct Buffers {
    grabber: Grabber,
    last: Option<Last>,
    pool: Vec<Arc<Vec<u8>>>,
    used: Option<Instant>,
    janitor: bool,
}

impl Buffers {
    /// A buffer nobody else holds; fresh pages cost more than the copy itself.
    fn take(&mut self) -> Vec<u8> {
        let free = self.pool.iter().position(|b| Arc::strong_count(b) == 1);
        free.and_then(|i| Arc::into_inner(self.pool.swap_remove(i))).unwrap_or_default()
    }

    fn keep(&mut self, data: &Arc<Vec<u8>>) {
        if self.pool.len() == POOL {
            self.pool.remove(0);
        }
        self.pool.push(Arc::clone(data));
    }
}

/// The screen facet on X11.
pub(crate) struct X11Screen {
    link: Arc<Link>,
    displays: Arc<Displays>,
    changes: Arc<Changes>,
    highlights: Highlights,
    buffers: Arc<Mutex<Buffers>>,
}

fn lock(buffers: &Mutex<Buffers>) -> MutexGuard<'_, Buffers> {
    buffers.lock().unwrap_or_else(PoisonError::into_inner)
}

impl X11Screen {
    pub(crate) fn new(link: Arc<Link>, displays: Arc<Displays>) -> Self {
        let changes = Changes::new(link.display().map(str::to_owned));
        Self { link, displays, changes, highlights: Highlights::default(), buffers: Arc::default() }
    }

    /// The physical rectangle of an area, inside the desktop.
    fn resolve(&self, conn: &Conn, area: Area, layout: &Layout) -> Result<Rect> {
        let desktop = layout.desktop();
        match area {
            Area::All => Ok(desktop),
            Area::Display(id) => {
                layout.monitors.iter().find(|m| m.display.id == id).map(|m| m.physical).ok_or_else(|| {
                    let ids: Vec<_> = layout.monitors.iter().map(|m| m.display.id.to_string()).collect();
                    PlatformError::OutOfRange {
                        what: format!("display {id} (there are: {})", ids.join(", ")),
                    }
                })
            }
            Area::Region(rect) => {
                layout.scale.up(rect).intersect(&desktop).ok_or_else(|| PlatformError::OutOfRange {
                    what: format!("region {},{} {}×{}", rect.x, rect.y, rect.width, rect.height),
                })
            }
            Area::Window(id) => {
                let bounds = windows::physical_bounds(conn, id)?
                    .ok_or_else(|| PlatformError::WindowNotFound { what: format!("with id {}", id.0) })?;
                bounds
                    .intersect(&desktop)
                    .ok_or_else(|| PlatformError::OutOfRange { what: format!("window {}", id.0) })
            }
        }
    }

    fn pixels(&self, conn: &Arc<Conn>, rect: Rect) -> Result<Arc<Vec<u8>>> {
        // Without change detection (no XDamage) every capture is a fresh one.
        let seq = self.changes.sync().ok();
        let key = Arc::as_ptr(conn) as usize;
        let mut buffers = lock(&self.buffers);
        let again = match (&buffers.last, seq) {
            (Some(last), Some(_))
                if last.rect == rect && last.conn == key && !self.changes.touched(last.seq, rect) =>
            {
                Some(Arc::clone(&last.data))
            }
            _ => None,
        };
        let data = match again {
            Some(data) => data,
            None => {
                buffers.last = None;
                let mut out = buffers.take();
                buffers.grabber.grab(conn, rect, &mut out)?;
                let data = Arc::new(out);
                buffers.keep(&data);
                // The place taken before the pixels were read: what is drawn in between counts as new.
                buffers.last = seq.map(|seq| Last { rect, seq, conn: key, data: Arc::clone(&data) });
                data
            }
        };
        buffers.used = Some(Instant::now());
        if !buffers.janitor {
            let shared = Arc::downgrade(&self.buffers);
            buffers.janitor = std::thread::Builder::new()
                .name("capture-idle".into())
                .stack_size(64 * 1024)
                .spawn(move || {
                    loop {
                        std::thread::sleep(IDLE / 4);
                        let Some(shared) = shared.upgrade() else { return };
                        let mut buffers = lock(&shared);
                        if buffers.used.is_none_or(|used| used.elapsed() >= IDLE) {
                            buffers.grabber.release();
                            buffers.last = None;
                            buffers.pool.clear();
                            buffers.janitor = false;
                            return;
                        }
                    }
                })
                .is_ok();
        }
        Ok(data)
    }
}

impl Drop for X11Screen {
    fn drop(&mut self) {
        self.changes.close();
        self.highlights.clear();
    }
}

impl Screen for X11Screen {
    fn displays(&self) -> Result<Vec<Display>> {
        self.link
            .with(|conn| Ok(self.displays.layout(conn)?.monitors.into_iter().map(|m| m.display).collect()))
    }

    fn capture(&self, area: Area, scope: &Scope) -> Result<Frame> {
        scope.check("capturing the screen")?;
        self.link.with(|conn| {
            let layout = self.displays.layout(conn)?;
            let rect = self.resolve(conn, area, &layout)?;
            let taken = Instant::now();
            let data = self.pixels(conn, rect)?;
            Ok(Frame {
                size: Size { width: rect.width as u32, height: rect.height as u32 },
                data,
                area: layout.scale.down(rect),
                scale: layout.scale.factor(),
                taken,
            })
        })
    }

    fn mark(&self) -> Result<Mark> {
        self.changes.sync().map(Mark)
    }

    fn wait_change(&self, since: Mark, within: Option<Rect>, scope: &Scope) -> Result<Option<Change>> {
        let scale = self.link.get()?.scale();
        let changed = self.changes.wait(since.0, within.map(|r| scale.up(r)), scope)?;
        Ok(changed.map(|c| Change {
            rects: c.rects.into_iter().map(|r| scale.down(r)).collect(),
            at: c.at,
            mark: Mark(c.seq),
        }))
    }

    fn highlight(&self, highlight: &Highlight) -> Result<()> {
        if highlight.rect.is_empty() {
            return Err(PlatformError::Invalid {
                field: "rect".into(),
                why: "width and height must be over 0".into(),
            });
        }
        self.link.with(|conn| {
            let layout = self.displays.layout(conn)?;
            self.highlights.show(conn, layout.scale.up(highlight.rect), layout.desktop(), highlight)
        })
    }
}
