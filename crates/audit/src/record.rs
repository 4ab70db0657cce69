//! One thing that happened.

use deskhand_protocol::{DecisionRecord, Effect, ErrorCode, ExecutionId, RequestId, Route};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What kind of thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// The gate decided about a call, before anything ran.
    CallDecided,
    /// A call ended.
    CallDone,
    /// A caller or a request was turned away at the door.
    Refused,
    /// One execution was aborted.
    Abort,
    /// Everything was stopped.
    Stop,
    /// The host began to serve.
    HostStarted,
    /// The host ended in good order.
    HostStopped,
    /// The log itself was mended.
    Note,
}

/// One thing that happened. Absent fields do not apply.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Record {
    /// Milliseconds since 1970.
    pub ts: u64,
    /// What kind of thing.
    pub kind: Kind,
    /// The client's id of the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<RequestId>,
    /// The host's id of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub execution_id: Option<ExecutionId>,
    /// Who asked: program, pid, uid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub caller: Option<String>,
    /// The tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// Its arguments, after [`crate::redact`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub args: Option<Value>,
    /// Where it was meant to go.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub route: Option<Route>,
    /// The project whose policy applied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// What was decided, on which risk, by which rules.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision: Option<DecisionRecord>,
    /// What came of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effect: Option<Effect>,
    /// How it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorCode>,
    /// The evidence bundle: `YYYY-MM-DD/<requestId>`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<String>,
    /// A sentence for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

impl Record {
    /// A record with nothing but its time and kind; set the public fields for more.
    #[must_use]
    pub fn new(ts: u64, kind: Kind) -> Self {
        Self {
            ts,
            kind,
            request_id: None,
            execution_id: None,
            caller: None,
            tool: None,
            args: None,
            route: None,
            project: None,
            decision: None,
            effect: None,
            error: None,
            evidence: None,
            note: None,
        }
    }
}
