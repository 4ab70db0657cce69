//! The user's session and the machine.

use std::time::Duration;

use crate::{Display, Result, Scope};

/// Facts about the machine.
#[derive(Clone, Debug, PartialEq)]
pub struct SystemInfo {
    /// Name and version of the operating system.
    pub os: String,
    /// Processor architecture.
    pub arch: String,
    /// Processor cores.
    pub cpus: u32,
    /// Bytes of memory.
    pub memory_total: u64,
    /// Bytes that can be used now.
    pub memory_free: u64,
    /// Displays; empty when there is no display server.
    pub displays: Vec<Display>,
    /// `x11`, `wayland`, `quartz`, `win32`, `fake`.
    pub session_type: String,
    /// Input method and keyboard layout, when known.
    pub keyboard: Option<String>,
}

/// The session facet.
pub trait Session: Send + Sync {
    /// Time since the last input.
    fn idle(&self) -> Result<Duration>;

    /// Whether the screen is locked; `None` when nothing tells.
    fn locked(&self, scope: &Scope) -> Result<Option<bool>>;

    /// Facts about the machine; works without a display.
    fn system_info(&self) -> Result<SystemInfo>;
}
