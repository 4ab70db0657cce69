//! What works, said before it is called.

use deskhand_protocol::Check;

use crate::Scope;

/// The report of a desktop about itself.
pub trait Capabilities: Send + Sync {
    /// Checks every part for real (connects, asks, reads), each within the scope; never fails as a
    /// whole. Ids on Linux: `display`, `screen_capture`, `input`, `window_manager`, `ax` (accessibility
    /// bus), `clipboard`, `notifications`, `fonts`, `fonts_cjk`, `browser`, `session`.
    fn checks(&self, scope: &Scope) -> Vec<Check>;

    /// A quick form for status lights: only what can be told in a few milliseconds.
    fn quick(&self, scope: &Scope) -> Vec<Check>;

    /// The display's name (`:99`), empty when there is none.
    fn display_name(&self) -> String;
}
