//! Text of window properties, whatever its encoding; never an error.

use crate::x11::Atoms;

/// Longest title kept, in characters.
const LONGEST: usize = 1024;

/// Decodes a text property.
pub(super) fn decode(bytes: &[u8], kind: u32, atoms: &Atoms) -> String {
    let text = if kind == atoms.UTF8_STRING {
        String::from_utf8_lossy(bytes).into_owned()
    } else if kind == atoms.COMPOUND_TEXT {
        compound(bytes)
    } else {
        plain(bytes)
    };
    text.trim_end_matches('\0').chars().take(LONGEST).collect()
}

/// `STRING` is Latin-1 by the book and UTF-8 in practice.
fn plain(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        Err(_) => latin1(bytes),
    }
}

fn latin1(bytes: &[u8]) -> String {
    bytes.iter().map(|&b| char::from(b)).collect()
}

/// Compound text: plain Latin-1, and UTF-8 between its own brackets (`ESC % G` … `ESC % @`), which is
/// what today's programs write. Other character sets are replaced.
fn compound(bytes: &[u8]) -> String {
    let mut out = String::new();
    let mut rest = bytes;
    while let Some(&first) = rest.first() {
        if let Some(tail) = rest.strip_prefix(b"\x1b%G") {
            let end = tail.windows(3).position(|w| w == b"\x1b%@").unwrap_or(tail.len());
            out.push_str(&String::from_utf8_lossy(&tail[..end]));
            rest = tail.get(end + 3..).unwrap_or_default();
        } else if first == 0x1b {
            // An escape to another set: intermediate bytes, then one final byte.
            let skip = rest[1..].iter().position(|b| (0x30..0x7f).contains(b)).map_or(rest.len(), |n| n + 2);
            let known = matches!(&rest[..skip.min(rest.len())], b"\x1b(B" | b"\x1b-A");
            rest = rest.get(skip..).unwrap_or_default();
            if !known {
                let end = rest.iter().position(|b| *b == 0x1b).unwrap_or(rest.len());
                out.extend(std::iter::repeat_n(char::REPLACEMENT_CHARACTER, end.min(64)));
                rest = &rest[end..];
            }
        } else {
            out.push(char::from(first));
            rest = &rest[1..];
        }
    }
    out
}

/// The NUL-separated strings of a property.
pub(super) fn strings(bytes: &[u8]) -> Vec<String> {
    bytes.split(|b| *b == 0).filter(|s| !s.is_empty()).map(plain).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_string_becomes_text() {
        for (bytes, want) in [
            (&b"plain"[..], "plain"),
            (b"caf\xe9", "café"),
            (b"caf\xc3\xa9", "café"),
            (b"\x1b%G\xe4\xbd\xa0\x1b%@ A", "你 A"),
            (b"\x1b-Acaf\xe9", "café"),
            (b"\x1b$)A\xc4\xe3\x1b(Bx", "\u{fffd}\u{fffd}x"),
            (b"\x1b", ""),
            (b"\x1b%G\xff", "\u{fffd}"),
        ] {
            let got = if bytes.contains(&0x1b) { compound(bytes) } else { plain(bytes) };
            assert_eq!(got, want, "{bytes:?}");
        }
        assert_eq!(strings(b"xterm\0XTerm\0"), ["xterm", "XTerm"]);
    }
}
