//! What a call answers.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{EffectReport, Error, ExecutionId, RequestId};

/// The answer to a call: a result or an error, never both, always with what happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Outcome {
    /// The client's id of the request.
    pub request_id: RequestId,
    /// The host's id of the run.
    pub execution_id: ExecutionId,
    /// The tool.
    pub tool: String,
    /// What the tool returned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<Value>,
    /// Why it did not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Error>,
    /// What it did to the desktop; absent for tools that only look.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effect: Option<EffectReport>,
    /// Where the evidence is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<EvidenceRef>,
    /// How long each part took.
    pub timings: Timings,
}

/// Where an evidence bundle is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EvidenceRef {
    /// The bundle's name: `YYYY-MM-DD/<requestId>`.
    pub id: String,
    /// Its folder.
    pub path: String,
    /// What could not be kept, if anything (a disk that ran full in the middle).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub incomplete: Option<String>,
}

/// Milliseconds spent in each part of the way of a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Timings {
    /// Waiting for the lane.
    pub queued_ms: f64,
    /// Running the tool.
    pub run_ms: f64,
    /// Judging the effect.
    pub verify_ms: f64,
    /// Everything, from parsing to answer.
    pub total_ms: f64,
}
