//! Descriptions of elements: several strategies at once, scored.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{ElementRef, Rect};

/// Finds the element most like this. Every strategy given is scored; a strategy that does not match
/// at all rules the element out.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Selector {
    /// Role: `button`, `AXButton`, `push button` all mean the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by_role: Option<String>,
    /// The element's name or title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by_title: Option<TextMatch>,
    /// The element's name, or the label beside it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by_label: Option<TextMatch>,
    /// The element's value (text of a field, state of a slider).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by_value: Option<TextMatch>,
    /// The application's own id of the element, where it gives one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by_identifier: Option<String>,
    /// Child indexes from the window's root down. Brittle; a last resort.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by_path: Option<Vec<u32>>,
    /// Only inside (or around the middle of) this rectangle.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by_rect: Option<RectMatch>,
    /// Close to another element.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub near: Option<Near>,
}

/// A rectangle that limits where an element may be.
pub type RectMatch = Rect;

/// How a text must match. Case and surrounding spaces are ignored by `contains`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub enum TextMatch {
    /// The whole text ("..." and "…" count as the same, trailing spaces are ignored).
    Equals(String),
    /// A part of the text, whatever the case.
    Contains(String),
    /// A regular expression.
    Regex(String),
}

/// Nearness to an anchor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Near {
    /// The anchor.
    pub anchor: Box<Selector>,
    /// Farthest distance between the two, in logical pixels. Default 200.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_distance: Option<u32>,
}

/// One element that was considered, with its score and the reasons.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Candidate {
    /// The element.
    pub element: ElementRef,
    /// Its role.
    pub role: String,
    /// Its short label.
    pub label: String,
    /// 0 to 1.
    pub score: f64,
    /// Why that score.
    pub reasons: Vec<String>,
    /// Whether it was taken.
    pub chosen: bool,
}
