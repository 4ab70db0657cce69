//! One file per tool; beside them what several tools share.

// shared
mod apps;
mod args;
mod menu_path;
mod pointer;
mod redact;
mod tree_view;
mod typed;
mod typing;
mod windows_seen;

// tools
pub(crate) mod app_close;
pub(crate) mod app_launch;
pub(crate) mod app_list;
pub(crate) mod app_switch;
pub(crate) mod capture_screen;
pub(crate) mod click;
pub(crate) mod clipboard_read;
pub(crate) mod clipboard_write;
pub(crate) mod double_click;
pub(crate) mod dump_ax_tree;
pub(crate) mod find;
pub(crate) mod highlight;
pub(crate) mod hotkey;
pub(crate) mod key_press;
pub(crate) mod left_click;
pub(crate) mod menu_pick;
pub(crate) mod mouse_drag;
pub(crate) mod mouse_move;
pub(crate) mod notification_send;
pub(crate) mod observe;
pub(crate) mod read_text;
pub(crate) mod right_click;
pub(crate) mod screenshot;
pub(crate) mod scroll;
pub(crate) mod system_info;
pub(crate) mod type_text;
pub(crate) mod wait_until;
pub(crate) mod window_manage;

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
    Err(Error::new(
        ErrorCode::WindowNotFound,
        format!("{field} is {title:?}; no open window has such a title"),
    )
    .detail("field", field)
    .detail("windows", windows_json(&all)))
}
