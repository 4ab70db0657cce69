//! What kind of thing an element is, in one vocabulary for all platforms.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

macro_rules! roles {
    ($($(#[$doc:meta])* $variant:ident = $word:literal, ax: $ax:literal;)*) => {
        /// A role; platforms map their own onto these.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "snake_case")]
        pub enum Role { $($(#[$doc])* $variant,)* }

        impl Role {
            /// All roles.
            pub const ALL: &'static [Role] = &[$(Role::$variant),*];

            /// Our word for it.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Role::$variant => $word),* }
            }

            /// The macOS name (host seed).
            #[must_use]
            pub const fn ax_name(self) -> &'static str {
                match self { $(Role::$variant => $ax),* }
            }
        }
    };
}

roles! {
    /// An application.
    Application = "application", ax: "AXApplication";
    /// A top-level window.
    Window = "window", ax: "AXWindow";
    /// A dialog.
    Dialog = "dialog", ax: "AXSheet";
    /// A push button.
    Button = "button", ax: "AXButton";
    /// A button that stays down.
    ToggleButton = "toggle_button", ax: "AXToggle";
    /// A check box.
    CheckBox = "check_box", ax: "AXCheckBox";
    /// A radio button.
    RadioButton = "radio_button", ax: "AXRadioButton";
    /// A single-line text field.
    TextField = "text_field", ax: "AXTextField";
    /// A multi-line text area or document.
    TextArea = "text_area", ax: "AXTextArea";
    /// A field whose content is hidden.
    PasswordField = "password_field", ax: "AXSecureTextField";
    /// A combo box.
    ComboBox = "combo_box", ax: "AXComboBox";
    /// A number field with arrows.
    SpinButton = "spin_button", ax: "AXIncrementor";
    /// A slider.
    Slider = "slider", ax: "AXSlider";
    /// A progress bar.
    ProgressBar = "progress_bar", ax: "AXProgressIndicator";
    /// A scroll bar.
    ScrollBar = "scroll_bar", ax: "AXScrollBar";
    /// A link.
    Link = "link", ax: "AXLink";
    /// Text that labels or says something.
    Label = "label", ax: "AXStaticText";
    /// A heading.
    Heading = "heading", ax: "AXHeading";
    /// A paragraph of a document.
    Paragraph = "paragraph", ax: "AXParagraph";
    /// A picture or icon.
    Image = "image", ax: "AXImage";
    /// A menu bar.
    MenuBar = "menu_bar", ax: "AXMenuBar";
    /// A menu.
    Menu = "menu", ax: "AXMenu";
    /// An entry of a menu.
    MenuItem = "menu_item", ax: "AXMenuItem";
    /// A tool bar.
    ToolBar = "tool_bar", ax: "AXToolbar";
    /// A status bar.
    StatusBar = "status_bar", ax: "AXStatusBar";
    /// A set of tabs.
    TabList = "tab_list", ax: "AXTabGroup";
    /// One tab.
    Tab = "tab", ax: "AXTab";
    /// A list.
    List = "list", ax: "AXList";
    /// An entry of a list.
    ListItem = "list_item", ax: "AXListItem";
    /// A tree.
    Tree = "tree", ax: "AXOutline";
    /// An entry of a tree.
    TreeItem = "tree_item", ax: "AXOutlineRow";
    /// A table or sheet.
    Table = "table", ax: "AXTable";
    /// A row.
    Row = "row", ax: "AXRow";
    /// A cell.
    Cell = "cell", ax: "AXCell";
    /// The head of a column or row.
    HeaderCell = "header_cell", ax: "AXColumnHeader";
    /// A web page or document.
    Document = "document", ax: "AXWebArea";
    /// A pane that scrolls.
    ScrollArea = "scroll_area", ax: "AXScrollArea";
    /// A divider that can be moved.
    Splitter = "splitter", ax: "AXSplitGroup";
    /// A line between things.
    Separator = "separator", ax: "AXSeparator";
    /// A tool tip.
    ToolTip = "tool_tip", ax: "AXHelpTag";
    /// A terminal.
    Terminal = "terminal", ax: "AXTerminal";
    /// A drawing area.
    Canvas = "canvas", ax: "AXCanvas";
    /// Something that only holds others.
    Group = "group", ax: "AXGroup";
    /// Anything else.
    Other = "other", ax: "AXUnknown";
}

impl std::fmt::Display for Role {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}
