//! The host: what it is made of, and the few things one can ask of it besides a call.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use deskhand_audit::{Kind, Log, Record};
use deskhand_config::Home;
use deskhand_platform::{Desktop, Scope};
use deskhand_protocol::{Check, CheckStatus, ExecutionInfo, HostStatus, Light, Result};
use deskhand_tools::Books;
use serde_json::{Value, json};

use crate::executions::Executions;
use crate::lane::Lane;
use crate::{Confirm, EvidenceStore};

/// How long an abort waits for what it aborts to end.
const ABORT_WAIT: Duration = Duration::from_millis(800);

/// What a host is made of.
pub struct Parts {
    /// The desktop it acts on.
    pub desktop: Desktop,
    /// Its home folder.
    pub home: Home,
    /// Where evidence goes.
    pub evidence: EvidenceStore,
    /// The audit log.
    pub audit: Log,
    /// Confirmation phrases.
    pub confirm: Confirm,
    /// Milliseconds since 1970.
    pub clock: fn() -> u64,
}

/// The host.
pub struct Host {
    pub(crate) parts: Parts,
    pub(crate) books: Books,
    pub(crate) executions: Arc<Executions>,
    pub(crate) lane: Arc<Lane>,
    pub(crate) stopped: AtomicBool,
    pub(crate) calls: AtomicU64,
    started: Instant,
}

impl Host {
    /// A host over these parts.
    #[must_use]
    pub fn new(parts: Parts) -> Arc<Self> {
        Arc::new(Self {
            parts,
            books: Books::default(),
            executions: Arc::default(),
            lane: Arc::default(),
            stopped: AtomicBool::new(false),
            calls: AtomicU64::new(0),
            started: Instant::now(),
        })
    }

    /// Who runs, where, for how long, with the lights of the parts.
    #[must_use]
    pub fn status(&self, clients: usize) -> HostStatus {
        let checks = self.parts.desktop.capabilities.quick(&Scope::timeout(Duration::from_millis(500)));
        HostStatus {
            pid: std::process::id(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            uptime_ms: u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX),
            display: self.parts.desktop.capabilities.display_name(),
            home: self.parts.home.root().display().to_string(),
            light: light(&checks),
            checks,
            executions: self.executions.list(None),
            clients,
            stopped: self.stopped.load(Ordering::SeqCst),
        }
    }

    /// Every capability, checked for real.
    #[must_use]
    pub fn doctor(&self) -> Vec<Check> {
        self.parts.desktop.capabilities.checks(&Scope::timeout(Duration::from_secs(10)))
    }

    /// What runs and waits, or one execution by its id or its request's id.
    #[must_use]
    pub fn executions(&self, only: Option<&str>) -> Vec<ExecutionInfo> {
        self.executions.list(only)
    }

    /// Aborts one execution (by its id or its request's id) or all of them. When this returns, no
    /// further event of theirs will be sent and nothing is held down.
    pub fn abort(&self, only: Option<&str>) -> Result<Value> {
        let ids = self.executions.cancel(only);
        let ended = self.executions.wait_gone(&ids, ABORT_WAIT);
        let released = if ids.is_empty() {
            Vec::new()
        } else {
            self.parts.desktop.input.release_all().unwrap_or_default()
        };
        Ok(json!({"aborted": ids, "ended": ended, "released": released}))
    }

    /// Aborts everything and lets no action start until [`Host::resume`].
    pub fn stop(&self) -> Result<Value> {
        self.stopped.store(true, Ordering::SeqCst);
        let mut done = self.abort(None)?;
        done["stopped"] = json!(true);
        Ok(done)
    }

    /// Lets actions run again.
    pub fn resume(&self) -> Value {
        json!({"resumed": self.stopped.swap(false, Ordering::SeqCst)})
    }

    /// Writes that the host serves now.
    pub fn log_start(&self) {
        self.log_life(
            Kind::HostStarted,
            &format!(
                "pid {}, display {}",
                std::process::id(),
                self.parts.desktop.capabilities.display_name()
            ),
        );
    }

    /// Writes that the host ends, and makes sure that everything written is on disk.
    pub fn log_end(&self, why: &str) {
        self.log_life(Kind::HostStopped, why);
        if let Err(e) = self.parts.audit.sync() {
            eprintln!("deskhand-host: the audit log cannot be synced: {e}");
        }
    }

    fn log_life(&self, kind: Kind, note: &str) {
        let record = Record { note: Some(note.to_owned()), ..Record::new((self.parts.clock)(), kind) };
        if let Err(e) = self.parts.audit.append(&record) {
            eprintln!("deskhand-host: the audit log cannot be written: {e}");
        }
    }

    /// Removes the oldest evidence when there is too much of it.
    pub fn prune_evidence(&self) {
        let removed = self.parts.evidence.prune();
        if removed > 0 {
            eprintln!("deskhand-host: removed the {removed} oldest evidence bundles");
        }
    }

    /// How many calls have come so far.
    #[must_use]
    pub fn calls(&self) -> u64 {
        self.calls.load(Ordering::Relaxed)
    }

    /// What is done while nobody asks anything.
    pub fn housekeep(&self) {
        self.books.forget_expired();
    }

    /// Whether nothing is kept that could be forgotten later.
    #[must_use]
    pub fn is_tidy(&self) -> bool {
        self.books.is_empty()
    }
}

fn light(checks: &[Check]) -> Light {
    match checks.iter().map(|c| c.status).max() {
        None | Some(CheckStatus::Pass) => Light::Green,
        Some(CheckStatus::Warn) => Light::Yellow,
        Some(CheckStatus::Fail) => Light::Red,
    }
}
