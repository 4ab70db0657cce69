//! One file per tool.

pub(crate) mod screenshot;

use deskhand_platform::Window;
use deskhand_protocol::{Error, ErrorCode, Result};

use crate::Ctx;
use crate::route::windows_json;

/// The window with this title: the whole title first, then a part of it, whatever the case.
/// Several that fit equally: the focused one, else the topmost.
pub(crate) fn window_by_title(ctx: &Ctx<'_>, field: &str, title: &str) -> Result<Window> {
    let all = ctx.desktop.windows.list()?;
    let wanted = title.trim().to_lowercase();
    let fits = |w: &&Window, whole: bool| {
        let t = w.title.trim().to_lowercase();
        if whole { t == wanted } else { !wanted.is_empty() && t.contains(&wanted) }
    };
    for whole in [true, false] {
        let found = || all.iter().filter(|w| fits(w, whole));
        if let Some(window) = found().find(|w| w.focused).or_else(|| found().next()) {
            return Ok(window.clone());
        }
    }
    Err(Error::new(ErrorCode::WindowNotFound, format!("{field} is {title:?}; no open window has such a title"))
        .detail("field", field)
        .detail("windows", windows_json(&all)))
}
