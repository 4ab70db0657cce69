//! What an action did, as far as anyone can tell.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Point, Rect};

/// The verdict on an action. "Success" that did nothing is `suspected_noop`, never `confirmed`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// The expected change was seen.
    Confirmed,
    /// Some of it was seen.
    Partial,
    /// Sent, and there is no way to see what came of it.
    Unverifiable,
    /// Sent, and nothing changed within the wait.
    SuspectedNoop,
    /// Not sent.
    Refused,
}

/// How the action was carried out, the sturdiest way first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Layer {
    /// Through the element: the pointer at the element as it is now, its own action, text insertion.
    Element,
    /// Through a command: menu, hotkey, window manager.
    Semantic,
    /// By coordinates that name no element.
    Coordinates,
}

/// What was hit and what changed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EffectReport {
    /// The verdict.
    pub effect: Effect,
    /// Why that verdict: which event, which pixels, which read-back.
    pub why: String,
    /// How it was carried out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub layer: Option<Layer>,
    /// True when a sturdier way was wanted and coordinates were used instead.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub fallback: bool,
    /// Where the pointer acted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<Point>,
    /// What was there: role and label of the element, or title of the window.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hit: Option<String>,
    /// Changed parts of the screen, merged, at most eight.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<Rect>,
    /// Milliseconds until the first change was seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after_ms: Option<u64>,
}

impl EffectReport {
    /// A bare verdict with its reason.
    pub fn new(effect: Effect, why: impl Into<String>) -> Self {
        Self {
            effect,
            why: why.into(),
            layer: None,
            fallback: false,
            at: None,
            hit: None,
            changed: Vec::new(),
            after_ms: None,
        }
    }
}
