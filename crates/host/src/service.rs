//! The host behind the bridge.

use std::sync::{Arc, OnceLock};

use deskhand_audit::{Kind, Record};
use deskhand_bridge::{CallContext, Refusal, Reply, Service, unknown_method};
use deskhand_platform::CancelToken;
use deskhand_protocol::{Call, CallParams, Error, ErrorCode, RequestId, method};
use serde_json::{Value, json};

use crate::Host;
use crate::gate::Caller;

/// What the bridge serves.
pub struct HostService {
    host: Arc<Host>,
    clients: OnceLock<Box<dyn Fn() -> usize + Send + Sync>>,
    shutdown: Box<dyn Fn() + Send + Sync>,
}

impl HostService {
    /// A service over a host; `shutdown` is called when a client asks the host to end.
    pub fn new(host: Arc<Host>, shutdown: impl Fn() + Send + Sync + 'static) -> Arc<Self> {
        Arc::new(Self { host, clients: OnceLock::new(), shutdown: Box::new(shutdown) })
    }

    /// Tells how many clients are connected, once the server runs.
    pub fn count_clients(&self, count: impl Fn() -> usize + Send + Sync + 'static) {
        let _ = self.clients.set(Box::new(count));
    }

    fn log(&self, kind: Kind, caller: String, note: String) {
        self.append(&Record {
            caller: Some(caller),
            note: Some(note),
            ..Record::new((self.host.parts.clock)(), kind)
        });
    }

    fn append(&self, record: &Record) {
        if let Err(e) = self.host.parts.audit.append(record) {
            eprintln!("deskhand-host: the audit log cannot be written: {e}");
        }
    }
}

impl Service for HostService {
    fn call(&self, params: CallParams, context: &CallContext) -> Result<Reply, Error> {
        let call = Call {
            request_id: params.request_id.unwrap_or_else(RequestId::fresh),
            tool: params.tool,
            args: params.args,
            route: params.route,
            confirm: params.confirm,
            timeout_ms: params.timeout_ms,
            project: params.project,
            options: params.options,
        };
        let gone = Arc::clone(&context.gone);
        let on_gone = move |cancel: CancelToken| gone.on_gone(Box::new(move || cancel.cancel()));
        let caller = Caller { name: context.peer.label(), on_gone: &on_gone };
        Reply::of(&self.host.call(&call, &caller))
    }

    fn handle(&self, name: &str, params: Value, context: &CallContext) -> Result<Reply, Error> {
        let caller = context.peer.label();
        match name {
            method::TOOLS => Reply::of(&json!({"tools": deskhand_tools::infos()})),
            method::STATUS => Reply::of(&self.host.status(self.clients.get().map_or(0, |count| count()))),
            method::DOCTOR => Reply::of(&json!({"checks": self.host.doctor()})),
            method::EXECUTIONS => {
                let only = params.get("id").and_then(Value::as_str);
                Reply::of(&json!({"executions": self.host.executions(only)}))
            }
            method::ABORT => {
                let id = params.get("id").and_then(Value::as_str).ok_or_else(|| {
                    Error::new(ErrorCode::InvalidInput, "abort needs `id`: an executionId or a requestId")
                        .detail("field", "id")
                })?;
                let done = self.host.abort(Some(id))?;
                self.log(Kind::Abort, caller, format!("abort {id}: {done}"));
                if done["aborted"].as_array().is_some_and(Vec::is_empty) {
                    return Err(Error::new(
                        ErrorCode::NotFound,
                        format!("nothing that runs or waits is called {id:?}"),
                    )
                    .hint("`deskhand status` lists what runs"));
                }
                Reply::of(&done)
            }
            method::STOP => {
                let done = self.host.stop()?;
                self.log(Kind::Stop, caller, done.to_string());
                Reply::of(&done)
            }
            method::RESUME => {
                // The owner stopped it, so the owner lets it go on: by the command line, not by whoever
                // else may use the bridge.
                if context.peer.exe.file_name().is_none_or(|name| name != "deskhand") {
                    return Err(Error::new(
                        ErrorCode::Blocked,
                        format!("{caller} may not lift an emergency stop"),
                    )
                    .hint("the owner does so with `deskhand resume`"));
                }
                let done = self.host.resume();
                self.log(Kind::Stop, caller, done.to_string());
                Reply::of(&done)
            }
            method::SHUTDOWN => {
                self.log(Kind::HostStopped, caller, "asked to end".to_owned());
                (self.shutdown)();
                Reply::of(&json!({"ending": true}))
            }
            other => Err(unknown_method(other)),
        }
    }

    fn refused(&self, refusal: &Refusal) {
        let error = refusal.to_error();
        self.append(&Record {
            caller: Some(refusal.peer.label()),
            error: Some(error.code),
            note: Some(error.message.clone()),
            ..Record::new((self.host.parts.clock)(), Kind::Refused)
        });
        eprintln!("deskhand-host: refused {}: {}", refusal.peer.label(), error.message);
    }

    fn notice(&self, text: &str) {
        eprintln!("deskhand-host: {text}");
    }
}
