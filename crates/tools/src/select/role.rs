//! How roles match: our words, macOS names and the platform's own words.

use deskhand_platform::Element;
use deskhand_protocol::{Result, Role};

use super::invalid;

/// A role that is looked for.
pub(super) struct Wanted {
    role: Option<Role>,
    native: String,
}

impl Wanted {
    pub(super) fn new(word: &str) -> Result<Self> {
        let key = squash(word);
        if key.is_empty() {
            return Err(invalid("byRole", "it is empty; use for example \"button\" or \"AXButton\""));
        }
        let role = Role::ALL
            .iter()
            .copied()
            .find(|r| squash(r.as_str()) == key || squash(r.ax_name()) == key)
            .or_else(|| also(&key));
        Ok(Self { role, native: key })
    }

    /// 1 for the same role, less for a cousin, `None` otherwise.
    pub(super) fn score(&self, e: &Element) -> Option<f64> {
        if self.role == Some(e.role) || squash(&e.native_role) == self.native {
            return Some(1.0);
        }
        cousins(self.role?, e.role).then_some(0.7)
    }
}

/// Roles that toolkits mix up.
fn cousins(a: Role, b: Role) -> bool {
    const FAMILIES: &[&[Role]] = &[
        &[Role::TextField, Role::TextArea, Role::PasswordField, Role::ComboBox, Role::SpinButton],
        &[Role::TextArea, Role::Document],
        &[Role::Button, Role::ToggleButton],
        &[Role::Window, Role::Dialog],
        &[Role::Menu, Role::MenuItem],
        &[Role::ListItem, Role::TreeItem, Role::Cell, Role::Row],
        &[Role::List, Role::Tree, Role::Table],
        &[Role::Label, Role::Paragraph, Role::Heading],
        &[Role::Tab, Role::RadioButton],
    ];
    FAMILIES.iter().any(|family| family.contains(&a) && family.contains(&b))
}

/// Words people use.
fn also(key: &str) -> Option<Role> {
    Some(match key {
        "edit" | "entry" | "input" | "textbox" | "textinput" | "axtext" => Role::TextField,
        "check" | "checkbutton" => Role::CheckBox,
        "radio" => Role::RadioButton,
        "text" | "statictext" => Role::Label,
        "combo" | "dropdown" | "axpopupbutton" | "select" => Role::ComboBox,
        "icon" | "picture" => Role::Image,
        "pagetab" => Role::Tab,
        "frame" => Role::Window,
        "tablecell" => Role::Cell,
        "menuentry" | "axmenubaritem" => Role::MenuItem,
        "app" => Role::Application,
        _ => return None,
    })
}

/// Lower case, letters and digits only.
fn squash(word: &str) -> String {
    word.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}
