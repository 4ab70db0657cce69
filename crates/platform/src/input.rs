//! Mouse and keyboard.

use std::time::Duration;

use deskhand_protocol::Point;

use crate::{Result, Scope};

/// A mouse button.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Button {
    /// Left.
    Left,
    /// Middle.
    Middle,
    /// Right.
    Right,
}

/// A modifier key. `Cmd` is Super on Linux and Windows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Modifier {
    /// Shift.
    Shift,
    /// Control.
    Ctrl,
    /// Alt / Option.
    Alt,
    /// Command / Super / Windows.
    Cmd,
}

/// A key as a person names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Key {
    /// A modifier.
    Modifier(Modifier),
    /// The key that writes this character in the present layout (a lower-case letter for letters).
    Char(char),
    /// A key with a name.
    Named(NamedKey),
}

/// Keys that write nothing, or write something that has a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum NamedKey {
    Enter,
    Tab,
    Escape,
    Space,
    Backspace,
    Delete,
    Insert,
    Home,
    End,
    PageUp,
    PageDown,
    Left,
    Right,
    Up,
    Down,
    CapsLock,
    NumLock,
    ScrollLock,
    PrintScreen,
    Pause,
    Menu,
    VolumeUp,
    VolumeDown,
    VolumeMute,
    MediaPlay,
    MediaNext,
    MediaPrevious,
    BrightnessUp,
    BrightnessDown,
    /// F1 to F24.
    F(u8),
}

/// Hands. Every event is sent and flushed before the call returns; what is held down is tracked.
pub trait Input: Send + Sync {
    /// Where the pointer is.
    fn pointer(&self) -> Result<Point>;

    /// Puts the pointer at `to` in one step. Paths are made by the caller.
    fn move_to(&self, to: Point, scope: &Scope) -> Result<()>;

    /// Presses or releases a button where the pointer is.
    fn button(&self, button: Button, down: bool, scope: &Scope) -> Result<()>;

    /// Turns the wheel: positive `dx` right, positive `dy` down, in logical pixels; at least one
    /// notch is sent for a distance that is not zero. Returns the pixels that were asked for by the
    /// notches sent.
    fn wheel(&self, dx: i32, dy: i32, scope: &Scope) -> Result<(i32, i32)>;

    /// Presses or releases a key.
    fn key(&self, key: Key, down: bool, scope: &Scope) -> Result<()>;

    /// Presses the keys in order, releases them in reverse.
    fn chord(&self, keys: &[Key], scope: &Scope) -> Result<()>;

    /// Types text as key events, right under any layout, for any character; `\n` is Enter and `\t`
    /// is Tab. `delay` lies between characters. Checks the scope before each character and returns
    /// how many characters were sent; on an error nothing stays down and the keymap is as before.
    fn type_keys(
        &self,
        text: &str,
        delay: Duration,
        progress: &mut dyn FnMut(usize),
        scope: &Scope,
    ) -> Result<usize>;

    /// Releases everything this process holds down; names it.
    fn release_all(&self) -> Result<Vec<String>>;

    /// What this process holds down now.
    fn held(&self) -> Vec<String>;
}
