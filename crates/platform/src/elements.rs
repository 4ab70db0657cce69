//! The accessibility tree.

use std::time::{Duration, Instant};

use deskhand_protocol::{Point, Rect, Role};

use crate::{Mark, Result, Scope, WindowId};

/// The platform's own name of an element (bus name + object path on Linux). Opaque to callers.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Handle(pub String);

/// Where a reading starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Root {
    /// Every application on the desktop.
    Desktop,
    /// The application of a process.
    App(u32),
    /// One window: only its part of the application's tree.
    Window(WindowId),
    /// One element.
    Element(Handle),
}

/// A bounded reading.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeQuery {
    /// Where to start.
    pub root: Root,
    /// Levels below the root.
    pub max_depth: u32,
    /// Elements in all.
    pub max_nodes: u32,
    /// Wall time for the whole reading.
    pub max_wall: Duration,
    /// Read text contents into `Node::value` (never of password fields).
    pub include_text: bool,
    /// Leave out what is not showing, the entries of closed menus among it (`menu_pick` reads with
    /// this off).
    pub visible_only: bool,
}

/// Which bound ended a reading early.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Limit {
    /// `max_depth`.
    Depth,
    /// `max_nodes`.
    Nodes,
    /// `max_wall`.
    WallTime,
}

/// States of an element, as flags.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub struct States {
    pub enabled: bool,
    pub visible: bool,
    pub showing: bool,
    pub focusable: bool,
    pub focused: bool,
    pub editable: bool,
    pub checked: bool,
    pub selected: bool,
    pub selectable: bool,
    pub expanded: bool,
    pub expandable: bool,
    pub pressed: bool,
    pub modal: bool,
    pub active: bool,
    pub multi_line: bool,
    pub busy: bool,
}

/// One element.
#[derive(Clone, Debug, PartialEq)]
pub struct Element {
    /// The platform's name of it.
    pub handle: Handle,
    /// Our role.
    pub role: Role,
    /// The platform's role word.
    pub native_role: String,
    /// Its name, cut at 256 characters.
    pub name: String,
    /// Its description, cut at 256 characters.
    pub description: String,
    /// The name of the element that labels it, when the platform tells.
    pub label: String,
    /// The application's own id of it.
    pub identifier: String,
    /// Where it is on the screen; `None` when it has no place.
    pub rect: Option<Rect>,
    /// Its states.
    pub states: States,
    /// Names of its actions (`click`, `press`, `expand or contract`…), the default one first.
    pub actions: Vec<String>,
    /// Its value: number of a slider, text when `include_text` was asked for.
    pub value: Option<String>,
    /// Whether text can be read from it.
    pub has_text: bool,
    /// Whether text can be inserted by the element itself.
    pub editable_text: bool,
    /// Whether it holds a secret.
    pub secure: bool,
    /// Process it belongs to.
    pub pid: u32,
}

/// An element in a tree.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// The element.
    pub element: Element,
    /// Index of the parent in `Tree::nodes`.
    pub parent: Option<u32>,
    /// Position among its parent's children.
    pub index: u32,
    /// Levels below the root.
    pub depth: u32,
}

/// A reading: parents come before their children (pre-order), the root first.
#[derive(Clone, Debug)]
pub struct Tree {
    /// The elements.
    pub nodes: Vec<Node>,
    /// The bound that was hit, if any.
    pub limit: Option<Limit>,
    /// Applications that did not answer in time and are missing, by name and pid.
    pub unresponsive: Vec<String>,
    /// When the reading started.
    pub started: Instant,
    /// When it ended.
    pub ended: Instant,
    /// How it was read: `cache`, `get_items`, `walk`, `peer`… for the log.
    pub how: String,
}

/// What to do to an element.
#[derive(Clone, Debug, PartialEq)]
pub enum ElementAction {
    /// Its default action (press a button, follow a link, tick a box, pick a menu entry).
    Press,
    /// A named action.
    Named(String),
    /// Give it the keyboard focus.
    Focus,
    /// Insert text at the caret, replacing the selection.
    InsertText(String),
    /// Replace the whole text.
    SetText(String),
    /// Set a number.
    SetValue(f64),
    /// Select it in its list, tab row or tree.
    Select,
    /// Scroll until it shows.
    ScrollTo,
}

/// What came of an element action.
#[derive(Clone, Debug, PartialEq)]
pub struct ActReport {
    /// The platform's way (`Action.DoAction(0) "click"`).
    pub how: String,
    /// `Some(true)`: read back and found done. `Some(false)`: read back and not done. `None`: cannot be read back.
    pub done: Option<bool>,
}

/// Text read from an element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextRead {
    /// The text, cut at a character boundary.
    pub text: String,
    /// Bytes of the whole text, when known.
    pub total_bytes: Option<usize>,
    /// Whether it was cut.
    pub truncated: bool,
}

/// What kind of accessibility event was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum ElementEventKind {
    TextChanged,
    StateChanged,
    FocusChanged,
    ValueChanged,
    SelectionChanged,
    ChildrenChanged,
    WindowChanged,
    Other,
}

/// An accessibility event.
#[derive(Clone, Debug, PartialEq)]
pub struct ElementEvent {
    /// Its kind.
    pub kind: ElementEventKind,
    /// The element it came from.
    pub handle: Handle,
    /// The platform's word for it, for the log.
    pub detail: String,
    /// When it was seen.
    pub at: Instant,
    /// The place after it.
    pub mark: Mark,
}

/// The accessibility facet. Every call has a time limit; a frozen application costs its own limit
/// once, then is remembered as unresponsive for a few seconds and skipped.
pub trait Elements: Send + Sync {
    /// Reads a tree within its bounds. A bound that was hit is reported with the partial tree.
    fn tree(&self, query: &TreeQuery, scope: &Scope) -> Result<Tree>;

    /// One element as it is now; `ElementGone` when it is not there any more.
    fn read(&self, handle: &Handle, scope: &Scope) -> Result<Element>;

    /// Does something to an element.
    fn act(&self, handle: &Handle, action: &ElementAction, scope: &Scope) -> Result<ActReport>;

    /// Its text, at most `limit_bytes`. Password fields answer `Secure`.
    fn text(&self, handle: &Handle, limit_bytes: usize, scope: &Scope) -> Result<TextRead>;

    /// The element with the keyboard focus, if the platform tells.
    fn focused(&self, scope: &Scope) -> Result<Option<Element>>;

    /// The deepest element at a point of the screen inside the application of `pid`.
    fn at(&self, point: Point, pid: u32, scope: &Scope) -> Result<Option<Element>>;

    /// The present place in the stream of events.
    fn mark(&self) -> Result<Mark>;

    /// Waits for an event after `since` from the application of `pid` (from any, when `None`);
    /// `None` when none came before the scope ended. Events that came already are returned at once.
    fn wait_event(&self, since: Mark, pid: Option<u32>, scope: &Scope) -> Result<Option<ElementEvent>>;
}
