//! The clipboard.

use crate::{Result, Scope};

/// Clipboard contents kept to be put back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SavedClipboard {
    /// (format, bytes), at most 16 formats of at most 16 MiB each.
    pub items: Vec<(String, Vec<u8>)>,
}

/// The clipboard facet.
pub trait Clipboard: Send + Sync {
    /// The formats offered now; empty when nobody owns it.
    fn formats(&self, scope: &Scope) -> Result<Vec<String>>;

    /// The text, or `None` when there is none.
    fn read_text(&self, scope: &Scope) -> Result<Option<String>>;

    /// Puts text on it; stays there while this process lives.
    fn write_text(&self, text: &str, scope: &Scope) -> Result<()>;

    /// Everything on it, to be put back after a paste.
    fn save(&self, scope: &Scope) -> Result<SavedClipboard>;

    /// Puts saved contents back.
    fn restore(&self, saved: &SavedClipboard, scope: &Scope) -> Result<()>;

    /// How many times its text has been handed to another program since `write_text`; tells when a
    /// paste has arrived.
    fn times_read(&self) -> u64;
}
