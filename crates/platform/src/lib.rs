//! The desktop as small facet traits and a report of what works.
//!
//! Every method that can wait takes a [`Scope`] (deadline + cancellation) and returns before its
//! deadline. Methods block; callers that must not, use a thread. Coordinates are logical pixels,
//! origin top left, across all displays. Nothing here knows an operating system.

mod apps;
mod capabilities;
mod clipboard;
mod elements;
mod error;
mod input;
mod notifications;
mod scope;
mod screen;
mod session;
mod windows;

use std::sync::Arc;

pub use apps::{App, Apps, InstalledApp, Launched};
pub use capabilities::Capabilities;
pub use clipboard::{Clipboard, SavedClipboard};
pub use elements::{
    ActReport, Element, ElementAction, ElementEvent, ElementEventKind, Elements, Handle, Limit, Node, Root,
    States, TextRead, Tree, TreeQuery,
};
pub use error::{PlatformError, Result};
pub use input::{Button, Input, Key, Modifier, NamedKey};
pub use notifications::{Notifications, Urgency};
pub use scope::{CancelToken, Scope};
pub use screen::{Area, Change, Display, Frame, Highlight, Mark, Screen};
pub use session::{Session, SystemInfo};
pub use windows::{Window, WindowChange, WindowId, Windows};

/// One desktop: its facets side by side. Cheap to clone.
#[derive(Clone)]
pub struct Desktop {
    /// Pixels.
    pub screen: Arc<dyn Screen>,
    /// Mouse and keyboard.
    pub input: Arc<dyn Input>,
    /// The accessibility tree.
    pub elements: Arc<dyn Elements>,
    /// Top-level windows.
    pub windows: Arc<dyn Windows>,
    /// Programs.
    pub apps: Arc<dyn Apps>,
    /// The clipboard.
    pub clipboard: Arc<dyn Clipboard>,
    /// Notifications to the user.
    pub notifications: Arc<dyn Notifications>,
    /// Idle time, lock, machine facts.
    pub session: Arc<dyn Session>,
    /// What works, before it is called.
    pub capabilities: Arc<dyn Capabilities>,
}
