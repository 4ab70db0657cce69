//! A request to run one tool.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{RequestId, Route};

/// What a client may say about how a call is run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CallOptions {
    /// Wait for the effect and judge it. Default true; false answers at once with `unverifiable`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verify: Option<bool>,
    /// How much evidence to keep. Default: what the tool declares. It can be raised; it cannot be
    /// lowered below what a coordinate action must keep.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<EvidenceLevel>,
}

/// How much evidence to keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum EvidenceLevel {
    /// Only what must be kept.
    Minimal,
    /// Everything: before, after, tree, candidates.
    Full,
}

/// One call on its way through the gate.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// The client's id of the request.
    pub request_id: RequestId,
    /// Which tool.
    pub tool: String,
    /// Its arguments.
    pub args: Value,
    /// Where it is meant to go.
    pub route: Option<Route>,
    /// The confirmation phrase, if this is the second call.
    pub confirm: Option<String>,
    /// Hard limit in milliseconds.
    pub timeout_ms: Option<u64>,
    /// The project whose policy applies.
    pub project: Option<String>,
    /// How to run it.
    pub options: CallOptions,
}
