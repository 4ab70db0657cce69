//! What a desk is to be like.

use deskhand_protocol::Size;
use serde::{Deserialize, Serialize};

use crate::error::{DeskError, Result};

/// The smallest side of a monitor.
pub const MIN_SIDE: u32 = 64;
/// The largest side of a monitor; two of them side by side still fit X's 16-bit coordinates.
pub const MAX_SIDE: u32 = 16_000;
const MAX_NAME: usize = 32;

/// Whose end is the desk's end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Owner {
    /// The desk ends with this process, even if it is killed.
    #[default]
    ThisProcess,
    /// The desk runs until it is stopped.
    Nobody,
}

/// What a desk is to be like. `Options::default()` is a desk of one 1920×1080 monitor that ends
/// with this process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Options {
    /// The name; without one the first free of `desk-1`, `desk-2`, …
    pub name: Option<String>,
    /// The first monitor.
    pub size: Size,
    /// A second monitor, to the right of the first.
    pub second: Option<Size>,
    /// Dots per inch that applications are told.
    pub dpi: u32,
    /// Whose end is the desk's end.
    pub owner: Owner,
    /// Whether to run a window manager. Off only to try out what happens without one.
    pub window_manager: bool,
    /// Whether to run the accessibility bus. Off only to try out what happens without one.
    pub accessibility: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            name: None,
            size: Size { width: 1920, height: 1080 },
            second: None,
            dpi: 96,
            owner: Owner::default(),
            window_manager: true,
            accessibility: true,
        }
    }
}

impl Options {
    /// The same with another first monitor.
    #[must_use]
    pub fn size(mut self, width: u32, height: u32) -> Self {
        self.size = Size { width, height };
        self
    }

    /// The same with a second monitor to the right.
    #[must_use]
    pub fn second(mut self, width: u32, height: u32) -> Self {
        self.second = Some(Size { width, height });
        self
    }

    /// The same with a name.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Names the first field that is wrong.
    pub fn check(&self) -> Result<()> {
        if let Some(name) = &self.name {
            check_name(name)?;
        }
        check_size("size", self.size)?;
        if let Some(second) = self.second {
            check_size("second", second)?;
        }
        if !(24..=960).contains(&self.dpi) {
            let (value, fix) = (self.dpi.to_string(), "it must be from 24 to 960".to_owned());
            return Err(DeskError::Size { field: "dpi", value, fix });
        }
        Ok(())
    }

    /// The X screen that holds all monitors.
    pub(crate) fn screen(&self) -> Size {
        match self.second {
            None => self.size,
            Some(second) => {
                Size { width: self.size.width + second.width, height: self.size.height.max(second.height) }
            }
        }
    }
}

/// Whether a desk can have this name: 1 to 32 of `a`–`z`, `0`–`9` and `-`.
pub fn check_name(name: &str) -> Result<()> {
    let fits = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
    if name.is_empty() || name.len() > MAX_NAME || !name.bytes().all(fits) {
        return Err(DeskError::Name(name.to_owned()));
    }
    Ok(())
}

/// Reads `WIDTHxHEIGHT`; `field` is the name of the flag, for the error.
pub fn parse_size(field: &'static str, text: &str) -> Result<Size> {
    let parsed = text
        .split_once(['x', 'X', '×'])
        .and_then(|(w, h)| Some(Size { width: w.parse().ok()?, height: h.parse().ok()? }));
    let Some(size) = parsed else {
        return Err(DeskError::Size { field, value: text.to_owned(), fix: "write it as 1920x1080".into() });
    };
    check_size(field, size)?;
    Ok(size)
}

fn check_size(field: &'static str, size: Size) -> Result<()> {
    let range = MIN_SIDE..=MAX_SIDE;
    if range.contains(&size.width) && range.contains(&size.height) {
        return Ok(());
    }
    let value = format!("{}x{}", size.width, size.height);
    Err(DeskError::Size { field, value, fix: format!("each side must be from {MIN_SIDE} to {MAX_SIDE}") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        let long = "a".repeat(33);
        for (name, fits) in [
            ("a", true),
            ("desk-1", true),
            (&long[..32], true),
            (&long, false),
            ("", false),
            ("Desk", false),
            ("a/b", false),
            ("..", false),
            ("a b", false),
            ("ä", false),
        ] {
            assert_eq!(check_name(name).is_ok(), fits, "{name:?}");
        }
    }

    #[test]
    fn sizes() {
        for (text, expected) in [
            ("1920x1080", Some((1920, 1080))),
            ("64X64", Some((64, 64))),
            ("801x603", Some((801, 603))),
            ("63x64", None),
            ("16001x100", None),
            ("1920", None),
            ("x", None),
            ("-5x100", None),
            ("99999999999x1", None),
        ] {
            let got = parse_size("size", text).ok().map(|s| (s.width, s.height));
            assert_eq!(got, expected, "{text:?}");
        }
        let said = parse_size("size", "big").unwrap_err().to_string();
        assert!(said.contains("size") && said.contains("big") && said.contains("1920x1080"), "{said}");
    }
}
