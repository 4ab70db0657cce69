//! The one flat list of tools. Adding a tool is one file under `tools/` and one line here.

use deskhand_protocol::ToolInfo;

use crate::tool::{AnyTool, Erased};
use crate::tools as t;

/// Every tool, in the order they are listed to people.
pub const ALL: &[&dyn AnyTool] = &[
    // eyes
    &Erased::<t::observe::Observe>::new(),
    &Erased::<t::screenshot::Screenshot>::new(),
    &Erased::<t::capture_screen::CaptureScreen>::new(),
    &Erased::<t::dump_ax_tree::DumpAxTree>::new(),
    &Erased::<t::find::Find>::new(),
    &Erased::<t::read_text::ReadText>::new(),
    &Erased::<t::wait_until::WaitUntil>::new(),
    &Erased::<t::highlight::Highlight>::new(),
    // mouse
    &Erased::<t::click::Click>::new(),
    &Erased::<t::menu_pick::MenuPick>::new(),
    &Erased::<t::mouse_move::MouseMove>::new(),
    &Erased::<t::left_click::LeftClick>::new(),
    &Erased::<t::right_click::RightClick>::new(),
    &Erased::<t::double_click::DoubleClick>::new(),
    &Erased::<t::mouse_drag::MouseDrag>::new(),
    &Erased::<t::scroll::Scroll>::new(),
    // keyboard
    &Erased::<t::type_text::TypeText>::new(),
    &Erased::<t::key_press::KeyPress>::new(),
    &Erased::<t::hotkey::Hotkey>::new(),
    // applications
    &Erased::<t::app_launch::AppLaunch>::new(),
    &Erased::<t::app_switch::AppSwitch>::new(),
    &Erased::<t::app_list::AppList>::new(),
    &Erased::<t::app_close::AppClose>::new(),
    &Erased::<t::window_manage::WindowManage>::new(),
    // system
    &Erased::<t::clipboard_read::ClipboardRead>::new(),
    &Erased::<t::clipboard_write::ClipboardWrite>::new(),
    &Erased::<t::notification_send::NotificationSend>::new(),
    &Erased::<t::system_info::SystemInfo>::new(),
];

/// A tool by its name.
#[must_use]
pub fn find(name: &str) -> Option<&'static dyn AnyTool> {
    ALL.iter().copied().find(|t| t.meta().name == name)
}

/// All tools with descriptions and schemas.
#[must_use]
pub fn infos() -> Vec<ToolInfo> {
    ALL.iter().map(|t| t.info()).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use deskhand_protocol::{Evidence, Lane, Level, Risk};

    use super::*;

    /// Name, risk, level and whether it changes nothing: control seed §3.1 and §7.1, host seed §2.
    const WANTED: &[(&str, Risk, Level, bool)] = &[
        ("observe", Risk::Low, Level::L1, true),
        ("screenshot", Risk::Low, Level::L1, true),
        ("capture_screen", Risk::Low, Level::L1, true),
        ("dump_ax_tree", Risk::Low, Level::L1, true),
        ("find", Risk::Low, Level::L1, true),
        ("read_text", Risk::Low, Level::L1, true),
        ("wait_until", Risk::Low, Level::L1, true),
        ("highlight", Risk::Low, Level::L1, true),
        ("click", Risk::Medium, Level::L2, false),
        ("menu_pick", Risk::Medium, Level::L2, false),
        ("mouse_move", Risk::Medium, Level::L2, false),
        ("left_click", Risk::Medium, Level::L2, false),
        ("right_click", Risk::Medium, Level::L2, false),
        ("double_click", Risk::Medium, Level::L2, false),
        ("mouse_drag", Risk::Medium, Level::L2, false),
        ("scroll", Risk::Low, Level::L2, false),
        ("type_text", Risk::Medium, Level::L2, false),
        ("key_press", Risk::Medium, Level::L2, false),
        ("hotkey", Risk::High, Level::L3, false),
        ("app_launch", Risk::Medium, Level::L2, false),
        ("app_switch", Risk::Low, Level::L2, false),
        ("app_list", Risk::Low, Level::L2, true),
        ("app_close", Risk::Medium, Level::L2, false),
        ("window_manage", Risk::Low, Level::L2, false),
        ("clipboard_read", Risk::Medium, Level::L2, true),
        ("clipboard_write", Risk::Medium, Level::L2, false),
        ("notification_send", Risk::Low, Level::L2, false),
        ("system_info", Risk::Low, Level::L1, true),
    ];

    #[test]
    fn every_tool_is_there_once_as_the_seeds_say() {
        let names: BTreeSet<&str> = ALL.iter().map(|t| t.meta().name).collect();
        assert_eq!(names.len(), ALL.len(), "a name is used twice");
        assert_eq!(ALL.len(), WANTED.len());
        for (name, risk, level, read_only) in WANTED {
            let meta = find(name).unwrap_or_else(|| panic!("{name} is missing")).meta();
            assert_eq!((meta.risk, meta.level, meta.read_only), (*risk, *level, *read_only), "{name}");
            let lane = if *read_only { Lane::SharedRead } else { Lane::ExclusiveDesktop };
            assert_eq!(meta.lane, lane, "{name}");
        }
        assert!(find("no_such_tool").is_none());
    }

    #[test]
    fn every_tool_says_what_it_is() {
        for info in infos() {
            let name = &info.name;
            assert!(info.description.len() > 20, "{name}: {:?}", info.description);
            assert!(!info.description.contains('\n') || info.description.len() > 80, "{name}");
            assert!(!info.title.is_empty() && !info.title.ends_with('.'), "{name}");
            assert!(info.title_zh.chars().any(|c| c as u32 > 0x2e80), "{name}: {}", info.title_zh);
            assert!(!info.platforms.is_empty() && info.local_only && info.timeout_ms >= 1000, "{name}");
            assert_eq!(info.category_zh, info.category.names().1);
            assert_eq!(info.input_schema["type"], "object", "{name}");
            assert_eq!(info.input_schema["additionalProperties"], false, "{name} takes unknown fields");
            assert_eq!(info.output_schema["type"], "object", "{name}");
        }
    }

    #[test]
    fn what_acts_by_coordinates_keeps_pictures() {
        for name in
            ["mouse_move", "left_click", "right_click", "double_click", "mouse_drag", "scroll", "click"]
        {
            assert_eq!(find(name).map(|t| t.meta().evidence), Some(Evidence::BeforeAfter), "{name}");
        }
    }

    #[test]
    fn every_field_is_described() {
        for info in infos() {
            let properties = info.input_schema["properties"].as_object().cloned().unwrap_or_default();
            for (field, schema) in properties {
                let said = schema["description"].as_str().is_some_and(|d| !d.is_empty());
                assert!(said, "{}.{field} has no description: {schema}", info.name);
            }
        }
    }
}
