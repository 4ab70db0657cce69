//! An application on the accessibility bus.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use deskhand_platform::{PlatformError, Result};

use super::bus::AxBus;
use super::conn::{Conn, Ended, Patience, Reply, lock, plain};
use super::events::Notes;
use super::model::Model;
use super::names::{ACCESSIBLE, APPLICATION, PROPERTIES};
use super::wire::{Args, Call, Variant};

/// How long an application that did not answer is left alone.
const LEFT_ALONE: Duration = Duration::from_secs(5);
/// How long an action's own answer is waited for; what it did is seen otherwise.
const SOON: Duration = Duration::from_millis(400);
/// Sockets kept with an action that is not answered.
const PARKED: usize = 4;
/// Calls in flight to one application.
pub(super) const WINDOW: usize = 64;

/// Toolkits that show pages.
const PAGES: &[&str] = &["chromium", "gecko", "webkitgtk"];

/// What is asked of an application once.
#[derive(Clone, Debug, Default)]
pub(super) struct Facts {
    pub(super) name: String,
    /// GTK 4 gives places inside the window, and never says SHOWING (4.8).
    pub(super) gtk4: bool,
    /// Qt counts the length of inserted text in UTF-16 units, all others in bytes.
    pub(super) qt: bool,
    /// Shows pages, whose elements have ids of their own.
    pub(super) pages: bool,
    /// LibreOffice, which can be wrong about where it is.
    pub(super) office: bool,
}

#[derive(Default)]
enum Peer {
    #[default]
    Unknown,
    None,
    Open(Arc<Conn>),
}

/// One application.
pub(super) struct App {
    pub(super) bus: Arc<str>,
    pub(super) pid: u32,
    pub(super) root: String,
    /// What events said since the last reading; locked only for moments.
    pub(super) notes: Mutex<Notes>,
    /// The tree as last read; locked during a reading, so that one reading serves all who wait.
    pub(super) model: Mutex<Option<Model>>,
    frozen_until: Mutex<Option<Instant>>,
    facts: Mutex<Option<Facts>>,
    peer: Mutex<Peer>,
    /// Sockets on which an action has not been answered; see [`App::act_apart`].
    parked: Mutex<VecDeque<Conn>>,
}

/// A way to an application: its own socket, or the bus.
pub(super) struct Link {
    conn: Arc<Conn>,
    dest: Option<Arc<str>>,
}

impl Link {
    pub(super) fn dest(&self) -> Option<&str> {
        self.dest.as_deref()
    }

    /// Whether it is the application's own socket.
    pub(super) fn is_peer(&self) -> bool {
        self.dest.is_none()
    }

    pub(super) fn batch<'a>(
        &self,
        calls: impl ExactSizeIterator<Item = Call<'a>>,
        patience: &Patience,
    ) -> (Vec<Option<Reply>>, Ended) {
        self.conn.batch(calls, WINDOW, patience)
    }
}

impl App {
    pub(super) fn new(bus: &str, pid: u32, root: &str) -> Self {
        Self {
            bus: Arc::from(bus),
            pid,
            root: root.to_owned(),
            notes: Mutex::default(),
            model: Mutex::default(),
            frozen_until: Mutex::default(),
            facts: Mutex::default(),
            peer: Mutex::default(),
            parked: Mutex::default(),
        }
    }

    /// Something came from it: it lives.
    pub(super) fn heard(&self) {
        *lock(&self.frozen_until) = None;
    }

    /// Remembers that it does not answer.
    pub(super) fn froze(&self) {
        *lock(&self.frozen_until) = Some(Instant::now() + LEFT_ALONE);
        // Calls lie unread in its own socket; start anew when it wakes.
        *lock(&self.peer) = Peer::Unknown;
    }

    /// Whether it did not answer a moment ago.
    pub(super) fn is_frozen(&self) -> bool {
        lock(&self.frozen_until).is_some_and(|t| t > Instant::now())
    }

    /// Name and pid, for messages.
    pub(super) fn label(&self) -> String {
        let name = lock(&self.facts).as_ref().map(|f| f.name.clone()).filter(|n| !n.is_empty());
        let name = name.or_else(|| std::fs::read_to_string(format!("/proc/{}/comm", self.pid)).ok());
        format!("{} (pid {})", name.as_deref().unwrap_or("an application").trim(), self.pid)
    }

    /// The error for a reading that ended early.
    pub(super) fn error(&self, ended: Ended, doing: &str) -> PlatformError {
        match ended {
            Ended::Cancelled => PlatformError::Cancelled,
            Ended::Dead => PlatformError::AxUnavailable { doing: doing.to_owned(), source: None },
            Ended::Complete | Ended::Deadline | Ended::Silent => {
                self.froze();
                PlatformError::AppUnresponsive { app: self.label(), doing: doing.to_owned() }
            }
        }
    }

    /// Asks a small question over the bus and waits for the answer. When it is here, so is every event
    /// the application sent before it: after this the notes are complete.
    pub(super) fn ping(&self, bus: &AxBus, patience: &Patience) -> Result<()> {
        let call = plain(Some(&self.bus), &self.root, ACCESSIBLE, "GetRole");
        match bus.conn.call(call, patience) {
            Ok(reply) => match reply.error {
                Some((name, _)) if gone(&name) => {
                    lock(&bus.hub.apps).remove(&*self.bus);
                    Err(PlatformError::AppNotFound { what: format!("with pid {} any more", self.pid) })
                }
                _ => Ok(()),
            },
            Err(ended) => Err(self.error(ended, "reading its accessibility tree")),
        }
    }

    /// Its name and peculiarities, asked once.
    pub(super) fn facts(&self, bus: &AxBus, patience: &Patience) -> Facts {
        if let Some(facts) = lock(&self.facts).clone() {
            return facts;
        }
        let get = |iface, name| Call {
            dest: Some(&self.bus),
            path: &self.root,
            iface: PROPERTIES,
            member: "Get",
            args: Args::default().str(iface).str(name),
        };
        let calls = [get(ACCESSIBLE, "Name"), get(APPLICATION, "ToolkitName"), get(APPLICATION, "Version")];
        let (replies, ended) = bus.conn.batch(calls.into_iter(), WINDOW, patience);
        let text = |i: usize| match replies
            .get(i)
            .and_then(Option::as_ref)
            .and_then(Reply::ok)
            .map(|mut r| r.variant())
        {
            Some(Variant::Str(s)) => s.to_owned(),
            _ => String::new(),
        };
        let toolkit = text(1).to_lowercase();
        let facts = Facts {
            name: text(0),
            gtk4: toolkit == "gtk" && text(2).starts_with('4'),
            qt: toolkit == "qt",
            pages: PAGES.contains(&toolkit.as_str()),
            office: text(0) == "soffice",
        };
        if ended == Ended::Complete {
            *lock(&self.facts) = Some(facts.clone());
        }
        facts
    }

    /// The fastest way to it.
    pub(super) fn link(&self, bus: &AxBus, patience: &Patience) -> Link {
        let mut peer = lock(&self.peer);
        if let Peer::Open(conn) = &*peer
            && conn.is_dead()
        {
            // It closed its socket and still lives: do not insist.
            *peer = Peer::None;
        }
        if matches!(*peer, Peer::Unknown) {
            *peer = self.open_peer(bus, patience);
        }
        match &*peer {
            Peer::Open(conn) => Link { conn: Arc::clone(conn), dest: None },
            _ => Link { conn: Arc::clone(&bus.conn), dest: Some(Arc::clone(&self.bus)) },
        }
    }

    /// The way over the bus.
    pub(super) fn bus_link(&self, bus: &AxBus) -> Link {
        Link { conn: Arc::clone(&bus.conn), dest: Some(Arc::clone(&self.bus)) }
    }

    /// Calls over a socket of its own. GTK 3's bridge handles no further message of a connection
    /// while an action of that connection runs, and an action that opens a modal dialog runs until
    /// the dialog is closed: on the shared connection everything would wait for the person to answer.
    ///
    /// `None` when the application offers no socket; the toolkits without one do not have that trouble.
    /// `Some(Err(Ended::Silent))` soon after the application turned out to be alive without answering.
    pub(super) fn act_apart(
        &self,
        bus: &AxBus,
        call: Call<'_>,
        patience: &Patience,
    ) -> Option<Result<Reply, Ended>> {
        let Peer::Open(conn) = self.open_peer(bus, patience) else { return None };
        let conn = Arc::into_inner(conn)?;
        let first = Patience { deadline: patience.deadline.min(Instant::now() + SOON), ..patience.clone() };
        let answer = conn.call(Call { dest: None, ..call }, &first);
        if matches!(answer, Err(Ended::Deadline | Ended::Silent)) {
            // Kept open, so that the application finds somebody to answer to.
            let mut parked = lock(&self.parked);
            parked.retain(|c| !c.is_dead());
            if parked.len() >= PARKED {
                parked.pop_front();
            }
            parked.push_back(conn);
            return Some(Err(Ended::Silent));
        }
        Some(answer)
    }

    fn open_peer(&self, bus: &AxBus, patience: &Patience) -> Peer {
        let call = plain(Some(&self.bus), &self.root, APPLICATION, "GetApplicationBusAddress");
        let Ok(reply) = bus.conn.call(call, patience) else { return Peer::Unknown };
        let address = match reply.ok().map(|mut r| r.str()) {
            Some(a) if a.starts_with("unix:") => a.to_owned(),
            _ => return Peer::None,
        };
        let time =
            patience.deadline.saturating_duration_since(Instant::now()).min(Duration::from_millis(300));
        Conn::connect(&address, time, Box::new(|_| {})).map_or(Peer::None, |c| Peer::Open(Arc::new(c)))
    }
}

/// Whether a D-Bus error means that the application is not there any more.
pub(super) fn gone(error: &str) -> bool {
    matches!(
        error,
        "org.freedesktop.DBus.Error.ServiceUnknown"
            | "org.freedesktop.DBus.Error.NameHasNoOwner"
            | "org.freedesktop.DBus.Error.NoReply"
            | "org.freedesktop.DBus.Error.Disconnected"
    )
}
