//! Top-level windows.

use deskhand_protocol::{Point, Rect};

use crate::{Result, Scope};

/// The window system's id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct WindowId(pub u64);

/// A top-level window.
#[derive(Clone, Debug, PartialEq)]
pub struct Window {
    /// Its id.
    pub id: WindowId,
    /// Its title; bytes that are not text are replaced, never an error.
    pub title: String,
    /// The application's class (WM_CLASS) or name.
    pub app: String,
    /// Its process, when known.
    pub pid: Option<u32>,
    /// Where it is, with its frame; logical pixels.
    pub bounds: Rect,
    /// Where its content is, without the frame.
    pub content: Rect,
    /// Whether it has the focus.
    pub focused: bool,
    /// Whether it is minimised.
    pub minimized: bool,
    /// Whether it fills the screen.
    pub maximized: bool,
    /// Whether it is a modal dialog.
    pub modal: bool,
    /// Whether it is a dialog (modal or not).
    pub dialog: bool,
    /// The window it belongs to, for dialogs.
    pub transient_for: Option<WindowId>,
    /// The display with most of it.
    pub display: u32,
}

/// A change to a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowChange {
    /// Fill the screen.
    Maximize,
    /// Take it off the screen.
    Minimize,
    /// Back to normal from either.
    Restore,
    /// Move and resize; what is `None` stays. Means the window with its frame.
    Bounds {
        /// Left edge.
        x: Option<i32>,
        /// Top edge.
        y: Option<i32>,
        /// Width.
        width: Option<i32>,
        /// Height.
        height: Option<i32>,
    },
    /// Ask it to close, as its close button does.
    Close,
}

/// The window manager.
pub trait Windows: Send + Sync {
    /// All managed windows, topmost first.
    fn list(&self) -> Result<Vec<Window>>;

    /// The window with the focus.
    fn active(&self) -> Result<Option<Window>>;

    /// Brings a window to the front, gives it the focus, and waits until it has it.
    fn activate(&self, id: WindowId, scope: &Scope) -> Result<()>;

    /// Changes a window and waits until the window manager has done so; returns it as it is then
    /// (`None` when it closed).
    fn change(&self, id: WindowId, change: WindowChange, scope: &Scope) -> Result<Option<Window>>;

    /// The topmost visible window at a point. Unmanaged ones (menus, tool tips) have an empty title
    /// and are given with the window that owns their process where that is known.
    fn at(&self, point: Point) -> Result<Option<Window>>;
}
