//! References to elements that can be told stale from fresh.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{ElementId, Rect, Selector, SnapshotId};

/// role + label + rect + subtree hash, in short hexadecimal.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Fingerprint(pub String);

/// An element of a snapshot, usable for a short while.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ElementRef {
    /// Stable inside the snapshot.
    pub element_id: ElementId,
    /// The snapshot it was seen in.
    pub snapshot_id: SnapshotId,
    /// What it looked like; if it differs now, the reference is stale.
    pub fingerprint: Fingerprint,
    /// Where it was.
    pub rect: Rect,
}

/// What an action is aimed at: a reference, or a selector that is resolved first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub enum Target {
    /// An element found earlier.
    ElementRef(ElementRef),
    /// A description of the element.
    Selector(Selector),
}
