//! Pixels: displays, captures, changes, marks on the screen.

use std::sync::Arc;
use std::time::{Duration, Instant};

use deskhand_protocol::{Rect, Size};

use crate::{Result, Scope, WindowId};

/// One display.
#[derive(Clone, Debug, PartialEq)]
pub struct Display {
    /// Stable while it is plugged in; 0 is the primary one where there is a primary.
    pub id: u32,
    /// The connector or monitor name.
    pub name: String,
    /// Where it lies on the desktop, logical pixels.
    pub bounds: Rect,
    /// Physical pixels per logical pixel.
    pub scale: f64,
    /// Whether it is the primary one.
    pub primary: bool,
}

/// What to capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Area {
    /// All displays, the bounding rectangle.
    All,
    /// One display.
    Display(u32),
    /// A rectangle, clipped to the desktop; an error when nothing is left.
    Region(Rect),
    /// The window's visible rectangle on the screen (with its frame), clipped to the desktop.
    Window(WindowId),
}

/// Pixels of one moment: rows of 4 bytes B, G, R, unused; no padding between rows.
#[derive(Clone)]
pub struct Frame {
    /// Size in physical pixels.
    pub size: Size,
    /// `size.width * size.height * 4` bytes, BGRX.
    pub data: Arc<Vec<u8>>,
    /// The part of the desktop it shows, logical pixels.
    pub area: Rect,
    /// Physical pixels per logical pixel.
    pub scale: f64,
    /// When the pixels were read.
    pub taken: Instant,
}

/// A place in the stream of changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Mark(pub u64);

/// Something changed on the screen.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// Changed rectangles, merged, at most 32; logical pixels.
    pub rects: Vec<Rect>,
    /// When the first of them was seen.
    pub at: Instant,
    /// The place after it.
    pub mark: Mark,
}

/// A frame drawn around something on the user's screen.
#[derive(Clone, Debug, PartialEq)]
pub struct Highlight {
    /// What to draw around.
    pub rect: Rect,
    /// 0xRRGGBB.
    pub color: u32,
    /// Line width in pixels.
    pub thickness: u32,
    /// How long it stays; the call does not wait for that.
    pub time: Duration,
}

/// Eyes.
pub trait Screen: Send + Sync {
    /// The displays, primary first.
    fn displays(&self) -> Result<Vec<Display>>;

    /// Reads pixels. The pointer is not drawn.
    fn capture(&self, area: Area, scope: &Scope) -> Result<Frame>;

    /// The present place in the stream of changes.
    fn mark(&self) -> Result<Mark>;

    /// Waits until something changed after `since` (inside `within`, when given); `None` when nothing
    /// did before the scope ended. Changes that happened already are returned at once.
    fn wait_change(&self, since: Mark, within: Option<Rect>, scope: &Scope) -> Result<Option<Change>>;

    /// Shows a frame on the screen that lets clicks through.
    fn highlight(&self, highlight: &Highlight) -> Result<()>;
}
