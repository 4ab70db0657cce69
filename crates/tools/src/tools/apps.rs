//! What the application tools share: finding what is meant by a name, windows in short.

use deskhand_platform::{App, InstalledApp, Window};
use deskhand_protocol::{Error, ErrorCode, Rect, Result};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use super::args::text;
use crate::Ctx;
use crate::route::same_app;

/// A window in the answers of the application tools.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub(crate) struct WindowView {
    /// Its title.
    pub(crate) title: String,
    /// Where it is, with its frame.
    pub(crate) bounds: Rect,
    /// Whether it has the focus.
    pub(crate) focused: bool,
    /// Its id, for `route.window.windowId`.
    #[serde(rename = "windowId")]
    pub(crate) window_id: u64,
    /// Whether it is minimised.
    pub(crate) minimized: bool,
}

impl From<&Window> for WindowView {
    fn from(w: &Window) -> Self {
        Self {
            title: w.title.clone(),
            bounds: w.bounds,
            focused: w.focused,
            window_id: w.id.0,
            minimized: w.minimized,
        }
    }
}

/// The applications that run under this name: its name, program, desktop-file id, window class, a
/// name in another language, or its pid as text.
pub(crate) fn running(ctx: &Ctx<'_>, field: &str, name: &str) -> Result<Vec<App>> {
    text(field, name, 1024)?;
    let wanted = name.trim();
    let all = ctx.desktop.apps.running()?;
    if let Ok(pid) = wanted.parse::<u32>() {
        let found: Vec<App> = all.iter().filter(|a| a.pid == pid).cloned().collect();
        if !found.is_empty() {
            return Ok(found);
        }
    }
    let windows = ctx.desktop.windows.list().unwrap_or_default();
    let of_class = |a: &App| windows.iter().any(|w| w.pid == Some(a.pid) && same_app(&w.app, wanted));
    // Launchers start "soffice" and what runs is called "soffice.bin".
    let plain = |program: &str| -> String {
        let stem = [".bin", "-bin", ".real", ".exe"].iter().find_map(|end| program.strip_suffix(end));
        stem.unwrap_or(program).to_owned()
    };
    let named = |a: &App, wanted: &str| {
        same_app(&a.name, wanted)
            || same_app(&a.program, wanted)
            || same_app(&plain(&a.program), wanted)
            || a.desktop_id.as_deref().is_some_and(|d| same_app(d, wanted))
    };
    let mut found: Vec<App> = all.iter().filter(|a| named(a, wanted) || of_class(a)).cloned().collect();
    if found.is_empty() {
        // A name in another language is only in the list of what is installed.
        let installed = ctx.desktop.apps.installed().unwrap_or_default();
        let called = |i: &&InstalledApp| {
            same_app(&i.name, wanted) || i.other_names.iter().any(|n| same_app(n, wanted))
        };
        let ids: Vec<&InstalledApp> = installed.iter().filter(called).collect();
        found = all
            .iter()
            .filter(|a| ids.iter().any(|i| named(a, &i.desktop_id) || named(a, &i.program)))
            .cloned()
            .collect();
    }
    if found.is_empty() {
        return Err(not_running(field, name, &all));
    }
    Ok(found)
}

/// The error for a name nothing runs under.
pub(crate) fn not_running(field: &str, name: &str, all: &[App]) -> Error {
    let list: Vec<Value> = all.iter().take(64).map(|a| json!({"name": a.name, "pid": a.pid})).collect();
    Error::new(ErrorCode::AppNotFound, format!("{field} is {name:?}; no application of that name runs"))
        .detail("field", field)
        .detail("running", list)
}
