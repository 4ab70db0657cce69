//! The accessibility bus: finding it, subscribing to its events, the applications on it.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use deskhand_platform::{CancelToken, PlatformError, Result, Scope};

use super::app::App;
use super::conn::{Conn, Ended, Patience, Reply, lock, plain};
use super::events::Hub;
use super::names::{ACCESSIBLE, NULL, ROOT};
use super::wire::{Args, Call};

const DAEMON: &str = "org.freedesktop.DBus";
const DAEMON_PATH: &str = "/org/freedesktop/DBus";
const REGISTRY: &str = "org.a11y.atspi.Registry";
/// Longest time to connect; starting the bus's launcher is inside it.
const CONNECT: Duration = Duration::from_secs(3);

/// Where to find the bus.
#[derive(Clone, Debug)]
pub(super) enum Place {
    /// As the environment says: `AT_SPI_BUS_ADDRESS`, else asked of the session bus.
    Environment,
    /// Asked of this session bus.
    Session(String),
}

/// A connection to the accessibility bus.
pub(super) struct AxBus {
    pub(super) conn: Arc<Conn>,
    pub(super) hub: Arc<Hub>,
}

/// Waits no longer than the scope, nor than `time`.
pub(super) fn patience(scope: &Scope, time: Duration) -> Patience {
    let deadline = scope.deadline().min(Instant::now() + time);
    Patience { deadline, silence: time, cancel: scope.cancel_token().clone() }
}

fn unavailable(doing: &str, why: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> PlatformError {
    PlatformError::ax(doing, why)
}

fn session_address() -> Result<String> {
    if let Some(address) = std::env::var("DBUS_SESSION_BUS_ADDRESS").ok().filter(|a| !a.is_empty()) {
        return Ok(address);
    }
    // What systemd sessions have without a variable.
    let dir = std::env::var("XDG_RUNTIME_DIR").unwrap_or_default();
    let socket = Path::new(&dir).join("bus");
    if !dir.is_empty() && socket.exists() {
        return Ok(format!("unix:path={}", socket.display()));
    }
    Err(unavailable("finding the session bus", "DBUS_SESSION_BUS_ADDRESS is not set"))
}

fn ended_word(ended: Ended) -> &'static str {
    match ended {
        Ended::Dead => "the connection was closed",
        Ended::Cancelled => "cancelled",
        _ => "no answer in time",
    }
}

/// Calls a bus service and wants no error back.
fn ask(conn: &Conn, call: Call<'_>, doing: &str, patience: &Patience) -> Result<Reply> {
    match conn.call(call, patience) {
        Ok(reply) => match &reply.error {
            Some((name, text)) => Err(unavailable(doing, format!("{name}: {text}"))),
            None => Ok(reply),
        },
        Err(Ended::Cancelled) => Err(PlatformError::Cancelled),
        Err(ended) => Err(unavailable(doing, ended_word(ended))),
    }
}

fn a11y_address(place: &Place, patience: &Patience) -> Result<String> {
    let session = match place {
        Place::Session(address) => address.clone(),
        Place::Environment => match std::env::var("AT_SPI_BUS_ADDRESS").ok().filter(|a| !a.is_empty()) {
            Some(address) => return Ok(address),
            None => session_address()?,
        },
    };
    let doing = "asking the session bus for the accessibility bus";
    let conn = Conn::connect(&session, CONNECT, Box::new(|_| {})).map_err(|e| unavailable(doing, e))?;
    ask(&conn, plain(Some(DAEMON), DAEMON_PATH, DAEMON, "Hello"), doing, patience)?;
    let reply = ask(
        &conn,
        plain(Some("org.a11y.Bus"), "/org/a11y/bus", "org.a11y.Bus", "GetAddress"),
        doing,
        patience,
    )?;
    let address = reply.ok().map(|mut r| r.str().to_owned()).unwrap_or_default();
    if address.is_empty() { Err(unavailable(doing, "the address is empty")) } else { Ok(address) }
}

/// Whether a process is there and has not ended (one that nobody has waited for still has an entry).
fn runs(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit(')').next().is_some_and(|rest| !matches!(rest.trim().chars().next(), None | Some('Z' | 'X')))
}

impl AxBus {
    /// Connects, subscribes to events.
    pub(super) fn connect(place: &Place, hub: &Arc<Hub>, cancel: &CancelToken) -> Result<Self> {
        let patience =
            Patience { deadline: Instant::now() + CONNECT, silence: CONNECT, cancel: cancel.clone() };
        let address = a11y_address(place, &patience)?;
        let doing = "connecting to the accessibility bus";
        hub.forget_apps();
        let side = Arc::clone(hub);
        let observer = Box::new(move |m: Option<&super::wire::Incoming<'_>>| match m {
            Some(m) => side.observe(m),
            None => side.forget_apps(),
        });
        let conn = Conn::connect(&address, CONNECT, observer).map_err(|e| unavailable(doing, e))?;
        ask(&conn, plain(Some(DAEMON), DAEMON_PATH, DAEMON, "Hello"), doing, &patience)?;
        let matches = [
            "type='signal',interface='org.a11y.atspi.Event.Object'",
            "type='signal',interface='org.a11y.atspi.Event.Window'",
            "type='signal',interface='org.a11y.atspi.Event.Document'",
            "type='signal',interface='org.a11y.atspi.Event.Focus'",
            "type='signal',sender='org.freedesktop.DBus',member='NameOwnerChanged'",
        ];
        let rule = |rule: &str| Call {
            dest: Some(DAEMON),
            path: DAEMON_PATH,
            iface: DAEMON,
            member: "AddMatch",
            args: Args::default().str(rule),
        };
        // Applications send only what somebody registered for.
        let register = |event: &str| Call {
            dest: Some(REGISTRY),
            path: "/org/a11y/atspi/registry",
            iface: REGISTRY,
            member: "RegisterEvent",
            args: Args::default().str(event).strs(&[]).str(""),
        };
        let calls: Vec<Call<'_>> = matches
            .iter()
            .map(|m| rule(m))
            .chain(["object:", "window:", "document:", "focus:"].map(register))
            .collect();
        let (replies, ended) = conn.batch(calls.into_iter(), 16, &patience);
        if ended != Ended::Complete {
            return Err(unavailable(doing, ended_word(ended)));
        }
        if let Some((name, text)) = replies.into_iter().flatten().find_map(|r| r.error) {
            return Err(unavailable(doing, format!("{name}: {text}")));
        }
        Ok(Self { conn: Arc::new(conn), hub: Arc::clone(hub) })
    }

    /// The applications on the bus. Asks only the bus and the registry: a frozen one is listed too.
    pub(super) fn apps(&self, patience: &Patience) -> Result<Vec<Arc<App>>> {
        let call = plain(Some(REGISTRY), ROOT, ACCESSIBLE, "GetChildren");
        let reply = ask(&self.conn, call, "listing applications", patience)?;
        let mut found: Vec<(String, String)> = Vec::new();
        if let Some(mut r) = reply.ok() {
            r.array(8, |r| {
                let (name, path) = r.reference();
                if path != NULL && name.starts_with(':') && !found.iter().any(|(n, _)| n == name) {
                    found.push((name.to_owned(), path.to_owned()));
                }
            });
        }
        let known = lock(&self.hub.apps).clone();
        let new: Vec<&(String, String)> = found.iter().filter(|(n, _)| !known.contains_key(n)).collect();
        let pids = self.pids(new.iter().map(|(n, _)| n.as_str()), patience)?;
        let mut apps = lock(&self.hub.apps);
        for ((name, path), pid) in new.iter().zip(pids) {
            if let Some(pid) = pid {
                apps.entry(name.clone()).or_insert_with(|| Arc::new(App::new(name, pid, path)));
            }
        }
        let own = std::process::id();
        Ok(found.iter().filter_map(|(n, _)| apps.get(n).cloned()).filter(|a| a.pid != own).collect())
    }

    /// Processes of bus names, as the bus knows them.
    fn pids<'a>(
        &self,
        names: impl ExactSizeIterator<Item = &'a str>,
        patience: &Patience,
    ) -> Result<Vec<Option<u32>>> {
        let calls = names.map(|name| Call {
            dest: Some(DAEMON),
            path: DAEMON_PATH,
            iface: DAEMON,
            member: "GetConnectionUnixProcessID",
            args: Args::default().str(name),
        });
        let (replies, ended) = self.conn.batch(calls, 64, patience);
        match ended {
            Ended::Complete => {
                Ok(replies.iter().map(|r| r.as_ref().and_then(Reply::ok).map(|mut r| r.u32())).collect())
            }
            Ended::Cancelled => Err(PlatformError::Cancelled),
            other => Err(unavailable("asking for processes", ended_word(other))),
        }
    }

    /// The process behind one bus name.
    pub(super) fn pid_of(&self, name: &str, patience: &Patience) -> Option<u32> {
        if let Some(app) = lock(&self.hub.apps).get(name) {
            return Some(app.pid);
        }
        self.pids(std::iter::once(name), patience).ok()?.pop().flatten()
    }

    /// The application of a process.
    pub(super) fn app_of_pid(&self, pid: u32, patience: &Patience) -> Result<Arc<App>> {
        if let Some(app) = lock(&self.hub.apps).values().find(|a| a.pid == pid) {
            return Ok(Arc::clone(app));
        }
        if let Some(app) = self.apps(patience)?.into_iter().find(|a| a.pid == pid) {
            return Ok(app);
        }
        if !runs(pid) {
            return Err(PlatformError::AppNotFound { what: format!("with pid {pid}: no such process") });
        }
        let name = std::fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
        Err(PlatformError::Unsupported {
            what: format!("the accessibility tree of {} (pid {pid})", name.trim()),
            why: "this application is not on the accessibility bus; use the screenshot, coordinates and keys"
                .into(),
        })
    }

    /// The application of a bus name (from a handle).
    pub(super) fn app_of_name(&self, name: &str, patience: &Patience) -> Result<Arc<App>> {
        if let Some(app) = lock(&self.hub.apps).get(name) {
            return Ok(Arc::clone(app));
        }
        self.apps(patience)?.into_iter().find(|a| &*a.bus == name).ok_or_else(|| PlatformError::ElementGone {
            what: format!("the application {name} has left the accessibility bus"),
        })
    }
}
