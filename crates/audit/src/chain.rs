//! The form of a line and the hash that ties it to the one before.
//!
//! `{"seq":N,"prev":"<hash>","hash":"<hash>","record":{…}}` — byte for byte: a line that reads the
//! same but is written otherwise counts as changed.

use sha2::{Digest, Sha256};

/// Digits of a hash.
pub(crate) const HASH_DIGITS: usize = 64;

/// The end of a chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    /// Number of the last line; 0 when there is none.
    pub seq: u64,
    /// Its hash; zeros when there is none.
    pub hash: String,
}

impl Head {
    /// Before the first line.
    #[must_use]
    pub fn start() -> Self {
        Self { seq: 0, hash: "0".repeat(HASH_DIGITS) }
    }
}

/// A line taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Line<'a> {
    pub(crate) seq: u64,
    pub(crate) prev: &'a str,
    pub(crate) hash: &'a str,
    pub(crate) record: &'a str,
}

impl<'a> Line<'a> {
    /// Takes a line apart (without its newline). `None` when it does not have the exact form.
    pub(crate) fn parse(bytes: &'a [u8]) -> Option<Self> {
        let rest = std::str::from_utf8(bytes).ok()?.strip_prefix("{\"seq\":")?;
        let (digits, rest) = rest.split_once(",\"prev\":\"")?;
        let seq: u64 = digits.parse().ok()?;
        let (prev, rest) = rest.split_once("\",\"hash\":\"")?;
        let (hash, rest) = rest.split_once("\",\"record\":")?;
        let record = rest.strip_suffix('}')?;
        // "007" and "+7" read as 7 as well; the form is one.
        (seq.to_string() == digits && prev.len() == HASH_DIGITS && hash.len() == HASH_DIGITS)
            .then_some(Self { seq, prev, hash, record })
    }

    /// Whether its hash is that of its own content.
    pub(crate) fn is_whole(&self) -> bool {
        digest(self.prev, self.seq, self.record) == self.hash
    }
}

/// The next line of a chain, with its newline, and the new end.
pub(crate) fn extend(head: &Head, record: &str) -> (Vec<u8>, Head) {
    let seq = head.seq + 1;
    let hash = digest(&head.hash, seq, record);
    let line =
        format!("{{\"seq\":{seq},\"prev\":\"{}\",\"hash\":\"{hash}\",\"record\":{record}}}\n", head.hash);
    (line.into_bytes(), Head { seq, hash })
}

fn digest(prev: &str, seq: u64, record: &str) -> String {
    use std::fmt::Write;
    let mut hasher = Sha256::new();
    hasher.update(prev.as_bytes());
    hasher.update(format!("\n{seq}\n").as_bytes());
    hasher.update(record.as_bytes());
    hasher.finalize().iter().fold(String::with_capacity(HASH_DIGITS), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
