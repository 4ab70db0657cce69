//! Where a call is meant to go, so that it never goes elsewhere.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The context of an action. Wrong focus is an error, never a click elsewhere.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Route {
    /// The application.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub app: Option<AppRoute>,
    /// The window.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<WindowRoute>,
    /// The display; required for coordinates when there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub display: Option<DisplayRoute>,
    /// What to do when the target does not have the focus. Default: focusIfNeeded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub focus_policy: Option<FocusPolicy>,
}

/// An application by its id or its process.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AppRoute {
    /// Desktop-file id, window class or program name (bundle id on macOS).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bundle_id: Option<String>,
    /// Process id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
}

/// A window by its id or by a pattern of its title.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct WindowRoute {
    /// The id given by the host (`observe`, `app_list`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window_id: Option<u64>,
    /// A regular expression searched for in the title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title_pattern: Option<String>,
}

/// A display by its id.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DisplayRoute {
    /// The id in `system_info.displays`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub display_id: Option<u32>,
}

/// What to do about the focus.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum FocusPolicy {
    /// The target must have the focus and keep it to the end of the action; waits briefly for it.
    RequireFocused,
    /// Bring it to the front when it is not.
    #[default]
    FocusIfNeeded,
    /// Fail at once when it does not have the focus now.
    FailIfNotFocused,
}
