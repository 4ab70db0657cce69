//! A desktop written as text. Indentation is containment; `//` starts a comment.
//!
//! ```text
//! display 0 1920x1080 primary                     // default when there is none
//! display 1 1280x1024 at=1920,0 scale=2
//! app "gedit" launches window "Document" program="gedit" id="org.gnome.gedit" names="文本编辑器"
//! clipboard "text" | locked | idle 300 | slow 20 | broken ax
//! window "Login" pid=7 app="login" at=100,100 size=400x300 focused
//!   edit #user "User" value="" at=120,140 size=200x24
//!   password #pw "Password" value="hunter2"
//!   button #ok "OK" -> set #user "done" ; close window "Login"
//!   menu "File"
//!     item "Save As…" key=ctrl+s -> open "Save As"
//! hidden window "Save As" modal for="Login"
//!   button "Cancel" -> close
//! ```
//!
//! Places are desktop coordinates; what has none is laid out in rows of 24 pixels.
//!
//! Windows take `pid= app= at= size= for=` and `focused modal dialog minimized maximized frozen
//! stubborn no-ax above`. Elements take `value= at= size= key= description= label= slow= drop-text=` and
//! `checked selected disabled hidden focused default readonly noop strict hover`. A window without a
//! title stands for an unmanaged one: a menu, a tool tip.

mod effect;
mod parse;
mod words;

use std::time::Duration;

use deskhand_protocol::{Point, Rect, Role, Size};

pub use effect::Effect;
pub(crate) use parse::parse_effects;

/// The parts that can be broken, named like the checks of `doctor`.
pub const PARTS: &[&str] = &[
    "display",
    "screen_capture",
    "input",
    "window_manager",
    "ax",
    "clipboard",
    "notifications",
    "fonts",
    "fonts_cjk",
    "browser",
    "session",
];

/// What is wrong with a scene, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SceneError {
    /// Line, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub what: String,
}

impl SceneError {
    pub(crate) fn new(line: usize, what: impl Into<String>) -> Self {
        Self { line, what: what.into() }
    }
}

impl std::fmt::Display for SceneError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "scene line {}: {}", self.line, self.what)
    }
}

impl std::error::Error for SceneError {}

/// A desktop as it is written.
#[derive(Clone, Debug, Default)]
pub struct Scene {
    /// Displays, at least one.
    pub displays: Vec<DisplaySpec>,
    /// Windows in the order of writing; the first lies on top unless another is `focused`.
    pub windows: Vec<WindowSpec>,
    /// Programs that can be started.
    pub apps: Vec<AppSpec>,
    /// Parts that do not work.
    pub broken: Vec<String>,
    /// How long every call takes.
    pub slow: Duration,
    /// Text on the clipboard.
    pub clipboard: Option<String>,
    /// Whether the screen is locked.
    pub locked: bool,
    /// How long the user has been away.
    pub idle: Duration,
}

/// `display ID WxH`
#[derive(Clone, Debug)]
pub struct DisplaySpec {
    /// Its id.
    pub id: u32,
    /// Where it lies.
    pub bounds: Rect,
    /// Physical pixels per logical pixel.
    pub scale: u32,
    /// Whether it is the primary one.
    pub primary: bool,
}

/// `app "name"`
#[derive(Clone, Debug)]
pub struct AppSpec {
    /// Its name.
    pub name: String,
    /// Title of the window it opens.
    pub launches: Option<String>,
    /// The program's file name.
    pub program: String,
    /// Desktop-file id.
    pub desktop_id: String,
    /// Names in other languages, parted by commas in the scene.
    pub names: Vec<String>,
}

/// `window "title"`
#[derive(Clone, Debug, Default)]
#[allow(clippy::struct_excessive_bools)]
pub struct WindowSpec {
    /// Line of the scene.
    pub line: usize,
    /// Its title.
    pub title: String,
    /// Its process; one is given per application when missing.
    pub pid: Option<u32>,
    /// Its application.
    pub app: String,
    /// Its place.
    pub at: Option<Point>,
    /// Its size.
    pub size: Option<Size>,
    /// Not open at the start.
    pub hidden: bool,
    /// Active at the start.
    pub focused: bool,
    /// A modal dialog.
    pub modal: bool,
    /// A dialog.
    pub dialog: bool,
    /// Title of the window it belongs to.
    pub owner: Option<String>,
    /// Minimised at the start.
    pub minimized: bool,
    /// Maximised at the start.
    pub maximized: bool,
    /// Its application answers nothing.
    pub frozen: bool,
    /// It does not close when asked.
    pub stubborn: bool,
    /// It lies above all others, whatever has the focus.
    pub above: bool,
    /// Its application is not on the accessibility bus.
    pub no_ax: bool,
    /// What is in it, in pre-order.
    pub elements: Vec<ElementSpec>,
}

/// An element of a window.
#[derive(Clone, Debug)]
#[allow(clippy::struct_excessive_bools)]
pub struct ElementSpec {
    /// Line of the scene.
    pub line: usize,
    /// Index of its parent in the window's elements.
    pub parent: Option<usize>,
    /// Its role.
    pub role: Role,
    /// `#id`, empty when it has none.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: Option<String>,
    /// `description=`
    pub description: String,
    /// `label=`
    pub label: String,
    /// Its place on the desktop while the window is where the scene puts it.
    pub at: Option<Point>,
    /// Its size.
    pub size: Option<Size>,
    /// `key=ctrl+s`: a shortcut that presses it.
    pub key: Option<String>,
    /// `checked`
    pub checked: bool,
    /// `selected`
    pub selected: bool,
    /// `disabled`
    pub disabled: bool,
    /// `hidden`
    pub hidden: bool,
    /// `focused`
    pub focused: bool,
    /// `default`: Enter presses it.
    pub default: bool,
    /// `readonly`
    pub readonly: bool,
    /// `noop`: pressing it is swallowed.
    pub noop: bool,
    /// `strict`: a menu whose entries answer only while it is open.
    pub strict: bool,
    /// `hover`: its effects come when the pointer is put on it, not when it is pressed.
    pub hover: bool,
    /// `slow=MS`: its effect comes late.
    pub slow: Duration,
    /// `drop-text=N`: inserting text says done and loses the last N characters.
    pub drop_text: usize,
    /// What pressing it does.
    pub effects: Vec<Effect>,
}

impl Scene {
    /// Reads a scene.
    pub fn parse(text: &str) -> Result<Scene, SceneError> {
        parse::parse(text)
    }
}

/// A role by its word or a short form of it.
pub(crate) fn role(word: &str) -> Option<Role> {
    Some(match word {
        "edit" | "entry" | "field" => Role::TextField,
        "text" | "area" => Role::TextArea,
        "password" => Role::PasswordField,
        "item" => Role::MenuItem,
        "entry_item" | "option" => Role::ListItem,
        "check" => Role::CheckBox,
        "radio" => Role::RadioButton,
        "toggle" => Role::ToggleButton,
        "combo" => Role::ComboBox,
        "spin" => Role::SpinButton,
        "progress" => Role::ProgressBar,
        "tabs" => Role::TabList,
        "scroll" => Role::ScrollArea,
        "bar" => Role::ToolBar,
        word => return Role::ALL.iter().copied().find(|r| r.as_str() == word),
    })
}
