//! Checks of arguments that several tools share.

use std::time::Duration;

use deskhand_protocol::{Error, ErrorCode, Platform, Result};

/// Every system.
pub(crate) const EVERYWHERE: &[Platform] = &[Platform::Linux, Platform::Macos, Platform::Windows];

/// A wrong argument: its name and what is wrong with it.
pub(crate) fn wrong(field: &str, why: impl std::fmt::Display) -> Error {
    Error::new(ErrorCode::InvalidInput, format!("{field} {why}")).detail("field", field)
}

/// Milliseconds from 0 to `most`.
pub(crate) fn millis(field: &str, given: Option<f64>, default: u64, most: u64) -> Result<Duration> {
    let Some(ms) = given else { return Ok(Duration::from_millis(default)) };
    if !(ms.is_finite() && ms >= 0.0 && ms <= most as f64) {
        return Err(wrong(field, format!("is {ms}; it goes from 0 to {most} milliseconds")));
    }
    Ok(Duration::from_micros((ms * 1000.0).round() as u64))
}

/// A whole number from `least` to `most`.
pub(crate) fn bounded<T: PartialOrd + std::fmt::Display + Copy>(
    field: &str,
    given: Option<T>,
    default: T,
    least: T,
    most: T,
) -> Result<T> {
    match given {
        None => Ok(default),
        Some(n) if n >= least && n <= most => Ok(n),
        Some(n) => Err(wrong(field, format!("is {n}; it goes from {least} to {most}"))),
    }
}

/// A text that says something and is not too long, in characters.
pub(crate) fn text(field: &str, given: &str, most: usize) -> Result<()> {
    if given.trim().is_empty() {
        return Err(wrong(field, "is empty"));
    }
    at_most(field, given, most)
}

/// A text that is not too long, in characters.
pub(crate) fn at_most(field: &str, given: &str, most: usize) -> Result<()> {
    let count = if given.len() <= most { 0 } else { given.chars().count() };
    if count > most {
        return Err(
            wrong(field, format!("has {count} characters; at most {most} are taken")).detail("limit", most)
        );
    }
    Ok(())
}
