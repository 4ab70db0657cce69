//! A host of the benchmark's own, on a home of its own, and calls to it.

use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use deskhand_bridge::{CallRequest, Client, callers};
use deskhand_config::Home;
use deskhand_protocol::{CallOptions, Error, ErrorCode, EvidenceLevel};
use serde_json::Value;

use super::Bench;

/// How long a host may take to answer its first question.
const START: Duration = Duration::from_secs(20);
/// How long any call may take.
const CALL: Duration = Duration::from_secs(180);

/// A running host with a warm connection; ended when dropped.
pub(crate) struct Host {
    child: Child,
    /// Its home.
    pub home: PathBuf,
    /// The connection.
    pub client: Client,
}

impl Host {
    /// A fresh host on an empty home.
    pub(crate) fn start(bench: &Bench) -> Result<Self, Box<dyn std::error::Error>> {
        let count = std::fs::read_dir(&bench.scratch)?.count();
        let folder = bench.scratch.join(format!("home{count}"));
        let home = Home::at(&folder);
        home.ensure()?;
        callers::allow(&home.callers_file(), &std::env::current_exe()?, Some("benchmark"))?;
        let log = std::fs::File::create(folder.join("host.log"))?;
        let child = bench
            .command(bench.program("deskhand-host"))
            .env("DESKHAND_HOME", &folder)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()?;
        let mut starting = Starting(Some(child));
        let until = Instant::now() + START;
        loop {
            match Client::connect(&home.socket(), "bench", "0")
                .and_then(|client| client.hello().map(|_| client))
            {
                Ok(client) => {
                    let child = starting.0.take().ok_or("the host is gone")?;
                    return Ok(Self { child, home: folder, client });
                }
                Err(error) if Instant::now() > until => return Err(error.into()),
                Err(_) => std::thread::sleep(Duration::from_millis(2)),
            }
        }
    }

    /// Its process id.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// One more connection.
    pub(crate) fn connect(&self) -> Result<Client, Error> {
        Client::connect(&Home::at(&self.home).socket(), "bench", "0")
    }

    /// Runs a tool, confirming it if need be; the result of its outcome.
    pub(crate) fn call(&self, tool: &str, args: Value) -> Result<Value, Error> {
        let request = CallRequest::new(tool, args);
        let outcome = match send(&self.client, request.clone()) {
            Err(error) if error.code == ErrorCode::ConfirmRequired => {
                send(&self.client, CallRequest { confirm: phrase(&error), ..request })
            }
            other => other,
        }?;
        Ok(outcome["result"].clone())
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Ends a host that never answered.
struct Starting(Option<Child>);

impl Drop for Starting {
    fn drop(&mut self) {
        if let Some(mut child) = self.0.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Sends a call; an error inside the outcome is an error.
pub(crate) fn send(client: &Client, request: CallRequest) -> Result<Value, Error> {
    let outcome = client.call(request, CALL)?;
    match serde_json::from_value::<Error>(outcome["error"].clone()) {
        Ok(error) => Err(error),
        Err(_) => Ok(outcome),
    }
}

/// The phrase a first call was answered with.
pub(crate) fn phrase(error: &Error) -> Option<String> {
    error.details.get("phrase").and_then(Value::as_str).map(str::to_owned)
}

/// Verify off, only the evidence that must be kept.
pub(crate) fn bare() -> CallOptions {
    CallOptions { verify: Some(false), evidence: Some(EvidenceLevel::Minimal) }
}
