//! Which windows were there: a window that comes or goes is the plainest effect.

use std::collections::BTreeMap;

use deskhand_platform::WindowId;
use deskhand_protocol::Result;

use crate::Ctx;

/// Windows and their titles at one moment.
pub(crate) struct Seen(BTreeMap<WindowId, String>);

impl Seen {
    /// The windows now; none when nobody can tell.
    pub(crate) fn now(ctx: &Ctx<'_>) -> Self {
        Self(ctx.desktop.windows.list().unwrap_or_default().into_iter().map(|w| (w.id, w.title)).collect())
    }

    /// What came, went or was renamed since.
    pub(crate) fn news(&self, ctx: &Ctx<'_>) -> Result<Option<String>> {
        let now = ctx.desktop.windows.list()?;
        if let Some(new) = now.iter().find(|w| !self.0.contains_key(&w.id)) {
            return Ok(Some(format!("the window {:?} appeared", new.title)));
        }
        if let Some((_, title)) = self.0.iter().find(|(id, _)| !now.iter().any(|w| w.id == **id)) {
            return Ok(Some(format!("the window {title:?} closed")));
        }
        let renamed = now.iter().find(|w| self.0.get(&w.id).is_some_and(|t| *t != w.title));
        Ok(renamed.map(|w| format!("a window is called {:?} now", w.title)))
    }
}
