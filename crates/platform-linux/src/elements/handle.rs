//! Handles: a bus name and an object path in one string. Bus names have no slash, paths start with one.

use deskhand_platform::{Handle, PlatformError, Result};

/// The handle of an object.
pub(super) fn make(bus: &str, path: &str) -> Handle {
    let mut s = String::with_capacity(bus.len() + path.len());
    s.push_str(bus);
    s.push_str(path);
    Handle(s)
}

/// Bus name and object path of a handle; an error for one that is not ours.
pub(super) fn split(handle: &Handle) -> Result<(&str, &str)> {
    match handle.0.find('/') {
        Some(at) if at > 0 && valid(&handle.0[..at], &handle.0[at..]) => Ok(handle.0.split_at(at)),
        _ => Err(PlatformError::Invalid {
            field: "handle".into(),
            why: format!(
                "{:?} is not a bus name followed by an object path, as elements of this desktop have",
                handle.0
            ),
        }),
    }
}

/// Whether the bus would take them: a call with a malformed name ends the whole connection.
fn valid(bus: &str, path: &str) -> bool {
    let word = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b'-';
    bus.len() <= 255
        && bus.contains('.')
        && bus.trim_start_matches(':').split('.').all(|p| !p.is_empty() && p.bytes().all(word))
        && (path == "/"
            || path[1..].split('/').all(|p| !p.is_empty() && p.bytes().all(|b| word(b) && b != b'-')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handles_by_table() {
        for (text, good) in [
            (":1.5/org/a11y/atspi/accessible/root", true),
            ("org.kde.x/a", true),
            (":1.5/", true),
            ("", false),
            (":1.5", false),
            ("/org/a", false),
            (":1.5/a//b", false),
            (":1.5/a b", false),
            (":1.5/a\0", false),
            (":1..5/a", false),
            ("x1/a/", false),
        ] {
            assert_eq!(split(&Handle(text.into())).is_ok(), good, "{text:?}");
        }
        let h = make(":1.5", "/a/b");
        assert_eq!(split(&h).ok(), Some((":1.5", "/a/b")));
    }
}
