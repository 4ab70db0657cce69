//! JSON-RPC 2.0 on the bridge: one object per line.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{CallOptions, Error, ErrorCode, ExecutionId, RequestId, Route};

/// The version this build speaks.
pub const BRIDGE_VERSION: u32 = 1;
/// Largest request line the host reads.
pub const MAX_REQUEST_BYTES: usize = 4 * 1024 * 1024;
/// Largest answer line a client reads.
pub const MAX_REPLY_BYTES: usize = 64 * 1024 * 1024;

/// The methods of the bridge.
pub mod method {
    /// Handshake; must come first.
    pub const HELLO: &str = "hello";
    /// Runs a tool.
    pub const CALL: &str = "call";
    /// Lists the tools.
    pub const TOOLS: &str = "tools";
    /// Aborts one execution.
    pub const ABORT: &str = "abort";
    /// Aborts everything and drops what waits.
    pub const STOP: &str = "stop";
    /// Lets actions run again after `stop`.
    pub const RESUME: &str = "resume";
    /// One execution, or all that run and wait.
    pub const EXECUTIONS: &str = "executions";
    /// Who runs, where, for how long, permission lights.
    pub const STATUS: &str = "status";
    /// Every capability with the fix.
    pub const DOCTOR: &str = "doctor";
    /// Ends the host in good order.
    pub const SHUTDOWN: &str = "shutdown";
}

/// A JSON-RPC request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RpcRequest {
    /// Always "2.0".
    pub jsonrpc: String,
    /// Number or string; absent for a notification.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<Value>,
    /// The method.
    pub method: String,
    /// Its parameters.
    #[serde(default)]
    pub params: Value,
}

/// A JSON-RPC response.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RpcResponse {
    /// Always "2.0".
    pub jsonrpc: String,
    /// The request's id, null when it could not be read.
    pub id: Value,
    /// The result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<Value>,
    /// The error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<RpcError>,
}

/// A JSON-RPC error; `data` is our own error object.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RpcError {
    /// -32700 parse, -32600 request, -32601 method, -32602 params, -32000 ours.
    pub code: i32,
    /// The sentence.
    pub message: String,
    /// Our error object.
    pub data: Error,
}

impl From<Error> for RpcError {
    fn from(data: Error) -> Self {
        let code = match data.code {
            ErrorCode::BadRequest | ErrorCode::FrameTooLarge => -32600,
            ErrorCode::InvalidInput => -32602,
            ErrorCode::Internal => -32603,
            _ => -32000,
        };
        Self { code, message: data.message.clone(), data }
    }
}

/// The client's first message, after the host's challenge was read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Hello {
    /// Bridge versions the client speaks.
    pub versions: Vec<u32>,
    /// The client's name, for the log.
    pub client: String,
    /// The client's own version.
    pub client_version: String,
    /// What the host sent in its first line, `{"method":"challenge","params":{"challenge":…}}`: shows
    /// that this was written by the process the host examined, not before it became that process.
    pub challenge: String,
}

/// The host's answer to `hello`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HelloReply {
    /// The version both will speak.
    pub version: u32,
    /// The host's program version.
    pub host_version: String,
    /// The host's process id.
    pub host_pid: u32,
    /// Largest request line.
    pub max_request_bytes: usize,
}

/// Parameters of `call`: the envelope of the host seed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CallParams {
    /// The client's id; made by the host when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<RequestId>,
    /// Fresh random text, 16 to 128 characters, never used twice.
    pub nonce: String,
    /// Milliseconds since 1970 after which the request is void; at most five minutes ahead.
    pub expires_at: u64,
    /// Hard limit in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// The tool.
    pub tool: String,
    /// Its arguments.
    #[serde(default)]
    pub args: Value,
    /// Where it is meant to go.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub route: Option<Route>,
    /// The confirmation phrase.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confirm: Option<String>,
    /// The project whose policy applies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// How to run it.
    #[serde(default)]
    pub options: CallOptions,
}

/// Where an execution is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExecutionState {
    /// Waiting for its lane.
    Queued,
    /// Running.
    Running,
    /// Told to stop, not yet ended.
    Aborting,
    /// Ended.
    Done,
}

/// One execution as shown to clients.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ExecutionInfo {
    /// Its id.
    pub execution_id: ExecutionId,
    /// The client's id of the request.
    pub request_id: RequestId,
    /// The tool.
    pub tool: String,
    /// Where it is.
    pub state: ExecutionState,
    /// Milliseconds since it arrived.
    pub age_ms: u64,
    /// Who asked.
    pub caller: String,
}

/// A permission light.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Light {
    /// All there.
    Green,
    /// Works with limits.
    Yellow,
    /// Does not work.
    Red,
}

/// How a check came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckStatus {
    /// Works.
    Pass,
    /// Works with limits.
    Warn,
    /// Does not work.
    Fail,
}

/// One line of `doctor`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Check {
    /// Stable id: `display`, `ax`, `input`, `window_manager`, `clipboard`, `fonts`, `browser`, `ocr`, `host`…
    pub id: String,
    /// How it came out.
    pub status: CheckStatus,
    /// One sentence.
    pub summary: String,
    /// What to do; empty when it passes.
    pub fix: String,
    /// The error code calls will answer with while it is broken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<ErrorCode>,
}

/// The answer to `status`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HostStatus {
    /// The host's process id.
    pub pid: u32,
    /// The host's program version.
    pub version: String,
    /// Milliseconds since it started.
    pub uptime_ms: u64,
    /// The display it serves.
    pub display: String,
    /// The home folder it uses.
    pub home: String,
    /// Overall light.
    pub light: Light,
    /// The lights of the parts.
    pub checks: Vec<Check>,
    /// Calls that run or wait.
    pub executions: Vec<ExecutionInfo>,
    /// Connected clients.
    pub clients: usize,
    /// Whether an emergency stop holds the desktop.
    pub stopped: bool,
}
