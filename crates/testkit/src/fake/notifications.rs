//! Notifications: kept for the test to look at.

use deskhand_platform::{Notifications, Result, Scope, Urgency};

use super::Fake;

/// Notifications kept.
const LIMIT: usize = 1000;

impl Notifications for Fake {
    fn send(&self, title: &str, body: &str, _urgency: Urgency, scope: &Scope) -> Result<u32> {
        self.enter("notifications", "sending a notification", scope)?;
        Ok(self.with(|w| {
            if w.notifications.len() == LIMIT {
                w.notifications.remove(0);
            }
            w.notifications.push((title.to_owned(), body.to_owned()));
            u32::try_from(w.notifications.len()).unwrap_or(u32::MAX)
        }))
    }
}
