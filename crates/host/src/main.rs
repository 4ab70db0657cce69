//! `deskhand-host`: holds the permissions of the desktop and serves the bridge. Started by
//! `deskhand up`, by the service manager, or on a virtual desk.

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::time::Duration;

use deskhand_audit::Log;
use deskhand_bridge::{Allowlist, Endpoint, Limits, Server};
use deskhand_config::Home;
use deskhand_host::{Confirm, EvidenceStore, Host, HostService, Parts};
use deskhand_platform::{Desktop, Scope};
use deskhand_protocol::{Error, ErrorCode};

const USAGE: &str = "usage: deskhand-host [--check]
Serves the bridge in DESKHAND_HOME (default ~/.deskhand). People start it with `deskhand up`.
  --check   print what works on this desktop as JSON, serve nothing";

/// How often the host looks whether there is something to tidy up.
const TICK: Duration = Duration::from_secs(4);
/// Evidence is pruned about once an hour.
const PRUNE_TICKS: u64 = 900;

fn main() -> ExitCode {
    let check = match args() {
        Ok(check) => check,
        Err(message) => {
            eprintln!("{message}\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    match run(check) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("deskhand-host: {error}\n  {}", error.hint);
            // The last line is for the program that started us.
            eprintln!("{}", serde_json::json!({"error": error}));
            ExitCode::FAILURE
        }
    }
}

/// Whether only a check was asked for.
fn args() -> Result<bool, String> {
    let mut check = false;
    for word in std::env::args_os().skip(1) {
        match word.to_str() {
            Some("--check") => check = true,
            Some("-h" | "--help") => return Err("deskhand-host: the acting side of Deskhand".to_owned()),
            _ => return Err(format!("deskhand-host: unknown argument {}", word.to_string_lossy())),
        }
    }
    Ok(check)
}

fn run(check: bool) -> Result<(), Error> {
    let home = Home::from_env()?;
    tune_memory();
    let desktop = desktop();
    if check {
        let checks = desktop.capabilities.checks(&Scope::timeout(Duration::from_secs(10)));
        return serde_json::to_writer(std::io::stdout(), &checks)
            .map_err(|e| Error::new(ErrorCode::Internal, format!("cannot print the checks: {e}")));
    }
    home.ensure()?;
    // The lock comes first: a second host must not touch the first one's log.
    let endpoint = Endpoint::bind(&home.socket(), &home.host_lock())?;
    let audit = Log::open(&home.audit_file())
        .map_err(|e| Error::new(ErrorCode::EvidenceFailed, format!("the audit log cannot be opened: {e}")))?;
    let evidence = EvidenceStore::new(home.evidence_dir()).map_err(|e| {
        Error::new(ErrorCode::EvidenceFailed, format!("the evidence writer cannot start: {e}"))
    })?;
    let mut key = [0; 32];
    rustix::rand::getrandom(&mut key, rustix::rand::GetRandomFlags::empty())
        .map_err(|e| Error::new(ErrorCode::Internal, format!("no random bytes: {e}")))?;
    let host = Host::new(Parts {
        desktop,
        home: home.clone(),
        evidence,
        audit,
        confirm: Confirm::new(key),
        clock: now_ms,
    });

    let (stop, stopped) = sync_channel::<&'static str>(4);
    let asked = stop.clone();
    let service = HostService::new(Arc::clone(&host), move || {
        let _ = asked.try_send("a client asked");
    });
    let allowlist = Allowlist::new(home.callers_file());
    let server = Arc::new(Server::start(endpoint, Arc::clone(&service) as _, allowlist, Limits::default())?);
    let count = Arc::downgrade(&server);
    service.count_clients(move || count.upgrade().map_or(0, |s| s.clients()));
    host.log_start();
    eprintln!("deskhand-host {} serves {}", env!("CARGO_PKG_VERSION"), home.socket().display());

    watch_signals(stop)?;
    let reason = wait(&host, &stopped);
    eprintln!("deskhand-host: ending ({reason})");
    let _ = host.abort(None);
    if let Ok(server) = Arc::try_unwrap(server) {
        server.shutdown(Duration::from_secs(1));
    }
    host.log_end(reason);
    Ok(())
}

/// Waits for the end, tidying up when nothing is going on.
fn wait(host: &Host, stopped: &std::sync::mpsc::Receiver<&'static str>) -> &'static str {
    host.prune_evidence();
    let (mut seen, mut tidied, mut ticks) = (0, 0, 0u64);
    loop {
        match stopped.recv_timeout(TICK) {
            Ok(reason) => return reason,
            Err(std::sync::mpsc::RecvTimeoutError::Timeout) => {
                let calls = host.calls();
                if calls == seen && calls != tidied {
                    host.housekeep();
                    trim_memory();
                    // What calls left to be used again (snapshots) may still be there: come back for it.
                    tidied = if host.is_tidy() { calls } else { tidied };
                }
                seen = calls;
                ticks += 1;
                if ticks % PRUNE_TICKS == 0 {
                    host.prune_evidence();
                }
            }
            Err(std::sync::mpsc::RecvTimeoutError::Disconnected) => return "nobody is left to ask",
        }
    }
}

fn watch_signals(stop: std::sync::mpsc::SyncSender<&'static str>) -> Result<(), Error> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    let mut signals = signal_hook::iterator::Signals::new([SIGINT, SIGTERM, SIGHUP])
        .map_err(|e| Error::new(ErrorCode::Internal, format!("signals cannot be watched: {e}")))?;
    std::thread::spawn(move || {
        for _ in signals.forever() {
            let _ = stop.try_send("told by a signal");
        }
    });
    Ok(())
}

fn now_ms() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// From here on: the one place that chooses the platform.
#[cfg(target_os = "linux")]
fn desktop() -> Desktop {
    deskhand_platform_linux::connect(&deskhand_platform_linux::Options::default())
}

#[cfg(target_os = "linux")]
fn tune_memory() {
    deskhand_platform_linux::memory::tune();
}

#[cfg(target_os = "linux")]
fn trim_memory() {
    deskhand_platform_linux::memory::trim();
}
