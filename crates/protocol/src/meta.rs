//! What a tool declares beside its code.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// How much harm a call can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Risk {
    /// Looks, or can be undone at once.
    Low,
    /// Changes something on the desktop.
    Medium,
    /// Can lose work or reach outside.
    High,
    /// Privilege, mass deletion, secrets, money.
    Critical,
}

/// The four levels of permission of the control seed, §7.1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub enum Level {
    /// Read only: pictures, text, system facts, reading files, extracting pages.
    L1,
    /// Standard: mouse and keyboard, applications, the browser, the clipboard.
    L2,
    /// Raised: terminal, writing files, system hotkeys.
    L3,
    /// Full control: unlimited terminal, forced closing, system settings.
    L4,
}

/// The tool's category; policies may name it in English or Chinese.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Category {
    /// 屏幕捕获
    Screen,
    /// 鼠标操控
    Mouse,
    /// 键盘操控
    Keyboard,
    /// 应用管理
    Apps,
    /// 终端操控
    Terminal,
    /// 文件系统
    Files,
    /// 浏览器
    Browser,
    /// 系统操作
    System,
}

impl Category {
    /// All categories.
    pub const ALL: &'static [Category] = &[
        Category::Screen,
        Category::Mouse,
        Category::Keyboard,
        Category::Apps,
        Category::Terminal,
        Category::Files,
        Category::Browser,
        Category::System,
    ];

    /// The English and the Chinese name; both match in `category_overrides`.
    #[must_use]
    pub const fn names(self) -> (&'static str, &'static str) {
        match self {
            Category::Screen => ("screen", "屏幕捕获"),
            Category::Mouse => ("mouse", "鼠标操控"),
            Category::Keyboard => ("keyboard", "键盘操控"),
            Category::Apps => ("apps", "应用管理"),
            Category::Terminal => ("terminal", "终端操控"),
            Category::Files => ("files", "文件系统"),
            Category::Browser => ("browser", "浏览器"),
            Category::System => ("system", "系统操作"),
        }
    }
}

/// What may run at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Lane {
    /// Any number side by side.
    SharedRead,
    /// One at a time on the whole desktop, first come first served.
    ExclusiveDesktop,
}

/// What of the desktop a tool needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Needs {
    /// The pixels.
    Screen,
    /// Mouse and keyboard.
    Input,
    /// The accessibility tree.
    Elements,
    /// The window manager.
    Windows,
    /// Starting and ending programs.
    Apps,
    /// The clipboard.
    Clipboard,
    /// The notification service.
    Notifications,
}

/// What a tool leaves in the evidence bundle by default.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Evidence {
    /// Nothing: a look that is repeated all the time. The audit record remains.
    None,
    /// Request, answer and what the tool itself recorded.
    Record,
    /// Also the screen before and after.
    BeforeAfter,
}

/// An operating system a tool works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Platform {
    /// Linux.
    Linux,
    /// macOS.
    Macos,
    /// Windows.
    Windows,
}

/// Everything the gate and the reader must know of a tool. No field has a default: forgetting the
/// risk does not compile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ToolMeta {
    /// The name on the wire.
    pub name: &'static str,
    /// One line in English for people.
    pub title: &'static str,
    /// One line in Chinese for people.
    pub title_zh: &'static str,
    /// Its own risk, before the arguments are looked at.
    pub risk: Risk,
    /// Its category.
    pub category: Category,
    /// The level it needs.
    pub level: Level,
    /// Whether it changes nothing: such tools run without confirmation.
    pub read_only: bool,
    /// What may run beside it.
    pub lane: Lane,
    /// What it needs of the desktop.
    pub needs: &'static [Needs],
    /// What it leaves behind as evidence.
    pub evidence: Evidence,
    /// Where it works.
    pub platforms: &'static [Platform],
    /// Whether it can only run on the desk itself.
    pub local_only: bool,
    /// Hard limit in milliseconds when the call gives none.
    pub timeout_ms: u64,
    /// Roles that may be granted it (control seed §4.2, §4.5); empty means every role.
    pub roles: &'static [&'static str],
}

/// A tool as listed to clients: its meta with description and schemas.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolInfo {
    /// The name on the wire.
    pub name: String,
    /// One line in English.
    pub title: String,
    /// One line in Chinese.
    pub title_zh: String,
    /// The description a model reads.
    pub description: String,
    /// Its own risk.
    pub risk: Risk,
    /// Its category.
    pub category: Category,
    /// The category in Chinese.
    pub category_zh: String,
    /// The level it needs.
    pub level: Level,
    /// Whether it changes nothing.
    pub read_only: bool,
    /// What may run beside it.
    pub lane: Lane,
    /// What it needs.
    pub needs: Vec<Needs>,
    /// What it leaves behind as evidence.
    pub evidence: Evidence,
    /// Where it works.
    pub platforms: Vec<Platform>,
    /// Whether it can only run on the desk itself.
    pub local_only: bool,
    /// Hard limit in milliseconds when the call gives none.
    pub timeout_ms: u64,
    /// Roles that may be granted it; empty means every role.
    pub roles: Vec<String>,
    /// JSON schema of the arguments.
    pub input_schema: Value,
    /// JSON schema of the result.
    pub output_schema: Value,
}
