//! What a host gives to the bridge, and what it is told about who asks.

use std::sync::Arc;

use deskhand_protocol::{CallParams, Error, ErrorCode};
use serde_json::Value;

use crate::allow::Refusal;
use crate::gone::Gone;
use crate::peer::Peer;
use crate::reply::Reply;

/// Who asks, on which connection, and whether they are still there.
#[derive(Clone, Debug)]
pub struct CallContext {
    /// The process on the other end.
    pub peer: Arc<Peer>,
    /// The connection's number, unique within one server.
    pub connection: u64,
    /// Tells when the client goes away before the answer.
    pub gone: Arc<Gone>,
}

/// The host's side of the bridge. Methods run on worker threads, many at once.
pub trait Service: Send + Sync {
    /// Runs a tool. The nonce was fresh and the request had not expired.
    fn call(&self, params: CallParams, context: &CallContext) -> Result<Reply, Error>;

    /// Every method but `hello` and `call`. An unknown one: answer [`unknown_method`].
    fn handle(&self, method: &str, params: Value, context: &CallContext) -> Result<Reply, Error>;

    /// A caller was turned away, or a request that was replayed or had expired; belongs into the
    /// audit log. The same one (program and check) is told once in [`crate::Limits::refusal_every`];
    /// the next one's `why` says how many were not told.
    fn refused(&self, refusal: &Refusal);

    /// Something worth a line in the process's own log: a client that was cut off, a broken file
    /// of callers.
    fn notice(&self, text: &str);
}

/// The detail by which the answer is known to be [`unknown_method`]: JSON-RPC has a number for it.
pub(crate) const UNKNOWN_METHOD: &str = "unknownMethod";

/// The answer to a method that does not exist.
#[must_use]
pub fn unknown_method(method: &str) -> Error {
    let shown = crate::request::clip(method);
    Error::new(ErrorCode::BadRequest, format!("there is no method {shown:?} on the bridge"))
        .detail(UNKNOWN_METHOD, shown)
        .hint("methods: hello, call, tools, abort, stop, resume, executions, status, doctor, shutdown")
}
