//! The environment of programs on a desk.

use std::process::Command;

use crate::state::State;

/// Tells the programs of one desk from those of another, whoever their parent has become. Only
/// programs started *as part of* a desk carry it, so that a shell into which somebody has exported
/// the desk's variables is not ended with the desk.
pub(crate) const MARK: &str = "DESKHAND_DESK_ID";

/// Variables of the person's own desktop that would draw a program off the desk, or switch its
/// accessibility off; [`Desk::command`](crate::Desk::command) removes them.
pub const UNSET: &[&str] = &[
    "WAYLAND_DISPLAY",
    "WAYLAND_SOCKET",
    "GDK_BACKEND",
    "QT_QPA_PLATFORM",
    "NO_AT_BRIDGE",
    "GTK_A11Y",
    "QT_ACCESSIBILITY",
    "AT_SPI_BUS_ADDRESS",
    "GTK_IM_MODULE",
    "QT_IM_MODULE",
    "XMODIFIERS",
    "SESSION_MANAGER",
    "DESKTOP_STARTUP_ID",
    "XDG_ACTIVATION_TOKEN",
    "XDG_CURRENT_DESKTOP",
    "XDG_SESSION_DESKTOP",
    "XDG_SESSION_ID",
    "XDG_SEAT",
    "XDG_VTNR",
    "DBUS_STARTER_ADDRESS",
    "DBUS_STARTER_BUS_TYPE",
    "WINDOWID",
];

impl State {
    /// The variables that lead a program to this desk.
    pub(crate) fn env(&self) -> Vec<(String, String)> {
        let info = &self.info;
        [
            ("DISPLAY", info.display.clone()),
            ("XAUTHORITY", info.xauthority.to_string_lossy().into_owned()),
            ("DBUS_SESSION_BUS_ADDRESS", info.bus.clone()),
            ("XDG_RUNTIME_DIR", info.runtime_dir.to_string_lossy().into_owned()),
            ("XDG_SESSION_TYPE", "x11".to_owned()),
            ("DESKHAND_DESK", info.name.clone()),
        ]
        .map(|(key, value)| (key.to_owned(), value))
        .into()
    }

    /// Makes `command` a part of this desk.
    pub(crate) fn apply(&self, command: &mut Command) {
        for name in UNSET {
            command.env_remove(name);
        }
        command.envs(self.env().into_iter().filter(|(_, value)| !value.is_empty()));
        if self.info.display.is_empty() {
            command.env_remove("DISPLAY");
        }
        command.env(MARK, &self.id);
    }
}
