//! What the accessibility side needs to know about windows of the window system.

use deskhand_platform::WindowId;
use deskhand_protocol::Rect;

/// Maps windows to processes and back. The accessibility bus knows processes and titles, not window
/// ids; and some toolkits (GTK 4) give extents relative to the window.
pub trait WindowLookup: Send + Sync {
    /// The process, the content rectangle (without the frame, logical pixels) and the title of a
    /// window; `None` when there is no such window or its process is not known.
    fn window(&self, id: WindowId) -> Option<(u32, Rect, String)>;

    /// The windows of a process, topmost first.
    fn windows_of(&self, pid: u32) -> Vec<(WindowId, Rect, String)>;
}
