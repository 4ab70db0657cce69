//! May this call happen? The answer is ordered, and combining answers is `max`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Risk;

/// Ordered from loosest to tightest; nothing lowers it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// Runs.
    AutoApprove,
    /// Runs, and the owner is told.
    NotifyOnly,
    /// Waits for a human.
    RequireApproval,
    /// Never runs.
    AlwaysBlock,
}

/// One reason for a decision: which rule said so, and who set it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Reason {
    /// The rule.
    pub rule: String,
    /// Who set it.
    pub set_by: String,
    /// What it asked for.
    pub decision: Decision,
}

/// The risk of this very call: the tool's own, raised by what the arguments show.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Assessment {
    /// The risk.
    pub risk: Risk,
    /// Whether the call changes nothing.
    pub read_only: bool,
    /// What raised it.
    pub why: Vec<String>,
}

/// A decision with everything that led to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DecisionRecord {
    /// The result.
    pub decision: Decision,
    /// Whether a caller on the bridge must also repeat the call with its confirmation phrase.
    pub confirm: bool,
    /// The risk it was made on.
    pub assessment: Assessment,
    /// The reasons.
    pub reasons: Vec<Reason>,
}
