//! Notifications to the user.

use crate::{Result, Scope};

/// How much it matters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Urgency {
    /// Can wait.
    Low,
    /// Ordinary.
    #[default]
    Normal,
    /// Stays until seen.
    Critical,
}

/// The notification service.
pub trait Notifications: Send + Sync {
    /// Shows a notification; the service's id of it.
    fn send(&self, title: &str, body: &str, urgency: Urgency, scope: &Scope) -> Result<u32>;
}
