//! Building a call.

use deskhand_protocol::{CallOptions, CallParams, Error, RequestId, Route};
use serde_json::Value;

use crate::handshake::random_hex;
use crate::replay::system_clock;

/// How long a call is valid on its way to the host.
const VALID_MS: u64 = 60_000;

/// A call to be sent. Nonce and expiry are made when it is sent.
#[derive(Clone, Debug)]
pub struct CallRequest {
    /// The tool.
    pub tool: String,
    /// Its arguments.
    pub args: Value,
    /// The id under which evidence is kept; made when absent.
    pub request_id: Option<RequestId>,
    /// Hard limit in milliseconds.
    pub timeout_ms: Option<u64>,
    /// Where it is meant to go.
    pub route: Option<Route>,
    /// The confirmation phrase.
    pub confirm: Option<String>,
    /// The project whose policy applies.
    pub project: Option<String>,
    /// How to run it.
    pub options: CallOptions,
}

impl CallRequest {
    /// A call of `tool` with nothing but arguments; set the public fields for more.
    pub fn new(tool: impl Into<String>, args: Value) -> Self {
        Self {
            tool: tool.into(),
            args,
            request_id: None,
            timeout_ms: None,
            route: None,
            confirm: None,
            project: None,
            options: CallOptions::default(),
        }
    }

    /// The envelope: a fresh nonce of 128 random bits, valid for a minute.
    pub fn into_params(self) -> Result<CallParams, Error> {
        Ok(CallParams {
            request_id: Some(self.request_id.unwrap_or_else(RequestId::fresh)),
            nonce: random_hex()?,
            expires_at: system_clock()() + VALID_MS,
            timeout_ms: self.timeout_ms,
            tool: self.tool,
            args: self.args,
            route: self.route,
            confirm: self.confirm,
            project: self.project,
            options: self.options,
        })
    }
}
