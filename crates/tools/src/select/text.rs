//! How texts match.

use deskhand_protocol::{Result, TextMatch};

use super::invalid;

/// A text match made ready.
pub(super) enum Pattern {
    Equals(String),
    Contains(String),
    Regex(regex_lite::Regex),
}

impl Pattern {
    pub(super) fn new(field: &str, wanted: &TextMatch) -> Result<Self> {
        match wanted {
            TextMatch::Equals(s) => Ok(Self::Equals(plain(s))),
            TextMatch::Contains(s) if s.trim().is_empty() => {
                Err(invalid(&format!("{field}.contains"), "it is empty and would fit everything"))
            }
            TextMatch::Contains(s) => Ok(Self::Contains(plain(s).to_lowercase())),
            TextMatch::Regex(s) => regex_lite::RegexBuilder::new(s)
                .size_limit(1 << 20)
                .build()
                .map(Self::Regex)
                .map_err(|e| invalid(&format!("{field}.regex"), &format!("{s:?}: {e}"))),
        }
    }

    /// How well a text fits; `None` when it does not.
    pub(super) fn score(&self, text: &str) -> Option<f64> {
        match self {
            Self::Equals(wanted) => (plain(text) == *wanted).then_some(1.0),
            Self::Contains(wanted) => {
                let text = plain(text).to_lowercase();
                let share = wanted.chars().count() as f64 / text.chars().count().max(1) as f64;
                text.contains(wanted.as_str()).then_some(0.5 + 0.4 * share.min(1.0))
            }
            Self::Regex(regex) => regex.find(text).map(|m| if m.len() == text.len() { 0.95 } else { 0.75 }),
        }
    }

    /// For reasons.
    pub(super) fn words(&self) -> String {
        match self {
            Self::Equals(s) => format!("equals {s:?}"),
            Self::Contains(s) => format!("contains {s:?}"),
            Self::Regex(r) => format!("matches /{}/", r.as_str()),
        }
    }
}

/// Without trailing spaces, with one kind of ellipsis and of space.
fn plain(text: &str) -> String {
    text.trim().replace("...", "…").replace('\u{a0}', " ")
}
