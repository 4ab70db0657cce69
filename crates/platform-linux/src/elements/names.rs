//! AT-SPI's words in ours: roles, states, interfaces.

use atspi::{Role as Native, State};
use deskhand_platform::States;
use deskhand_protocol::Role;

/// The bit of a state.
pub(super) const fn bit(state: State) -> u64 {
    state as u64
}

/// Whether a state is set.
pub(super) const fn has(bits: u64, state: State) -> bool {
    bits & bit(state) != 0
}

/// Interfaces that matter to us, as bits.
pub(super) mod iface {
    pub(crate) const ACTION: u8 = 1;
    pub(crate) const COMPONENT: u8 = 2;
    pub(crate) const EDITABLE: u8 = 4;
    pub(crate) const TEXT: u8 = 8;
    pub(crate) const VALUE: u8 = 16;
    pub(crate) const SELECTION: u8 = 32;
    pub(crate) const TABLE: u8 = 64;
}

pub(super) const ACCESSIBLE: &str = "org.a11y.atspi.Accessible";
pub(super) const ACTION: &str = "org.a11y.atspi.Action";
pub(super) const APPLICATION: &str = "org.a11y.atspi.Application";
pub(super) const CACHE: &str = "org.a11y.atspi.Cache";
pub(super) const COMPONENT: &str = "org.a11y.atspi.Component";
pub(super) const EDITABLE: &str = "org.a11y.atspi.EditableText";
pub(super) const TEXT: &str = "org.a11y.atspi.Text";
pub(super) const VALUE: &str = "org.a11y.atspi.Value";
pub(super) const SELECTION: &str = "org.a11y.atspi.Selection";
pub(super) const TABLE: &str = "org.a11y.atspi.Table";
pub(super) const PROPERTIES: &str = "org.freedesktop.DBus.Properties";
/// The object that stands for an application, and for the desktop in the registry.
pub(super) const ROOT: &str = "/org/a11y/atspi/accessible/root";
/// What stands for "no object".
pub(super) const NULL: &str = "/org/a11y/atspi/null";

/// The bit of an interface name; 0 for those that do not matter.
pub(super) fn iface_bit(name: &str) -> u8 {
    match name.strip_prefix("org.a11y.atspi.").unwrap_or(name) {
        "Action" => iface::ACTION,
        "Component" => iface::COMPONENT,
        "EditableText" => iface::EDITABLE,
        "Text" => iface::TEXT,
        "Value" => iface::VALUE,
        "Selection" => iface::SELECTION,
        "Table" => iface::TABLE,
        _ => 0,
    }
}

/// The platform's word for a role.
pub(super) fn native_role(role: u32) -> &'static str {
    Native::try_from(role).map_or("unknown", |r| r.name())
}

/// Whether an element is a field whose content must never be read.
pub(super) fn is_secure(role: u32) -> bool {
    role == Native::PasswordText as u32
}

/// Our role of a native one; states tell single from multi-line and editable from static text.
pub(super) fn role(role: u32, states: u64) -> Role {
    use Native as N;
    let editable = has(states, State::Editable);
    let Ok(native) = Native::try_from(role) else { return Role::Other };
    match native {
        N::Application => Role::Application,
        N::Frame | N::Window | N::InternalFrame | N::DesktopFrame | N::InputMethodWindow => Role::Window,
        N::Dialog | N::Alert | N::FileChooser | N::ColorChooser | N::FontChooser | N::OptionPane => {
            Role::Dialog
        }
        N::Button | N::PushButtonMenu => Role::Button,
        N::ToggleButton => Role::ToggleButton,
        N::CheckBox => Role::CheckBox,
        N::RadioButton => Role::RadioButton,
        N::PasswordText => Role::PasswordField,
        N::Entry | N::Text | N::DateEditor | N::Autocomplete | N::Editbar => match native {
            _ if has(states, State::MultiLine) => Role::TextArea,
            // Firefox and Qt give "text" to runs that nobody can edit.
            N::Text if !editable && !has(states, State::Focusable) => Role::Label,
            _ => Role::TextField,
        },
        N::ComboBox => Role::ComboBox,
        N::SpinButton => Role::SpinButton,
        N::Slider | N::Dial => Role::Slider,
        N::ProgressBar | N::LevelBar | N::Rating => Role::ProgressBar,
        N::ScrollBar => Role::ScrollBar,
        N::Link => Role::Link,
        N::Label
        | N::Static
        | N::AcceleratorLabel
        | N::Caption
        | N::DescriptionTerm
        | N::DescriptionValue
        | N::Definition
        | N::Timer
        | N::Mark
        | N::Subscript
        | N::Superscript
        | N::ContentInsertion
        | N::ContentDeletion
        | N::Suggestion => Role::Label,
        N::Heading => Role::Heading,
        N::Paragraph if editable && has(states, State::MultiLine) => Role::TextArea,
        N::Paragraph | N::BlockQuote => Role::Paragraph,
        N::Image | N::Icon | N::DesktopIcon | N::Animation | N::ImageMap | N::CHART | N::Video => Role::Image,
        N::MenuBar => Role::MenuBar,
        N::Menu | N::PopupMenu => Role::Menu,
        N::MenuItem | N::CheckMenuItem | N::RadioMenuItem | N::TearoffMenuItem => Role::MenuItem,
        N::ToolBar => Role::ToolBar,
        N::StatusBar => Role::StatusBar,
        N::PageTabList => Role::TabList,
        N::PageTab => Role::Tab,
        N::List | N::ListBox | N::DescriptionList => Role::List,
        N::ListItem => Role::ListItem,
        N::Tree => Role::Tree,
        N::TreeItem => Role::TreeItem,
        N::Table | N::TreeTable | N::Calendar => Role::Table,
        N::TableRow => Role::Row,
        N::TableCell => Role::Cell,
        N::ColumnHeader | N::RowHeader | N::TableColumnHeader | N::TableRowHeader => Role::HeaderCell,
        N::DocumentFrame
        | N::DocumentSpreadsheet
        | N::DocumentPresentation
        | N::DocumentText
        | N::DocumentWeb
        | N::DocumentEmail
        | N::HTMLContainer => Role::Document,
        N::ScrollPane | N::Viewport => Role::ScrollArea,
        N::SplitPane => Role::Splitter,
        N::Separator => Role::Separator,
        N::ToolTip => Role::ToolTip,
        N::Terminal => Role::Terminal,
        N::Canvas | N::DrawingArea => Role::Canvas,
        N::Panel
        | N::Filler
        | N::RootPane
        | N::LayeredPane
        | N::GlassPane
        | N::DirectoryPane
        | N::Section
        | N::Form
        | N::Grouping
        | N::Header
        | N::Footer
        | N::Page
        | N::Embedded
        | N::Article
        | N::Landmark
        | N::InfoBar
        | N::Notification
        | N::TitleBar
        | N::Comment
        | N::Log
        | N::Marquee
        | N::RedundantObject
        | N::Ruler
        | N::Footnote
        | N::Math
        | N::MathFraction
        | N::MathRoot => Role::Group,
        _ => Role::Other,
    }
}

/// Our states. `showing` is for toolkits that never set SHOWING (GTK 4.8).
pub(super) fn states(bits: u64, showing: bool) -> States {
    let is = |s| has(bits, s);
    let visible = is(State::Visible);
    States {
        enabled: is(State::Enabled) || is(State::Sensitive),
        visible,
        showing: is(State::Showing) || (showing && visible),
        focusable: is(State::Focusable),
        focused: is(State::Focused),
        editable: is(State::Editable),
        checked: is(State::Checked),
        selected: is(State::Selected),
        selectable: is(State::Selectable),
        expanded: is(State::Expanded),
        expandable: is(State::Expandable),
        pressed: is(State::Pressed),
        modal: is(State::Modal),
        active: is(State::Active),
        multi_line: is(State::MultiLine),
        busy: is(State::Busy),
    }
}

/// The action an element of this role nearly always has, for dumps that do not ask.
pub(super) fn usual_action(role: Role) -> Option<&'static str> {
    match role {
        Role::Button
        | Role::MenuItem
        | Role::CheckBox
        | Role::RadioButton
        | Role::ToggleButton
        | Role::Menu => Some("click"),
        Role::Link => Some("jump"),
        Role::TextField | Role::PasswordField | Role::Cell | Role::ListItem | Role::TreeItem => {
            Some("activate")
        }
        Role::ComboBox => Some("press"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roles_by_table() {
        let editable = bit(State::Editable);
        let multi = editable | bit(State::MultiLine);
        for (native, states, ours) in [
            (Native::Button, 0, Role::Button),
            (Native::Text, multi, Role::TextArea),
            (Native::Entry, editable, Role::TextField),
            (Native::Text, 0, Role::Label),
            (Native::PasswordText, editable, Role::PasswordField),
            (Native::Paragraph, multi, Role::TextArea),
            (Native::Paragraph, 0, Role::Paragraph),
            (Native::Frame, 0, Role::Window),
            (Native::CheckMenuItem, 0, Role::MenuItem),
            (Native::DocumentWeb, 0, Role::Document),
        ] {
            assert_eq!(role(native as u32, states), ours, "{native:?}");
        }
        assert_eq!(role(9999, 0), Role::Other);
        assert_eq!(native_role(9999), "unknown");
    }

    #[test]
    fn states_by_bit() {
        // Bit numbers of the AT-SPI header, so that a change in the crate's enum is seen.
        assert_eq!(
            (bit(State::Active), bit(State::Showing), bit(State::Visible)),
            (1 << 1, 1 << 25, 1 << 30)
        );
        assert!(!states(bit(State::Visible), false).showing);
        assert!(states(bit(State::Visible), true).showing);
    }
}
