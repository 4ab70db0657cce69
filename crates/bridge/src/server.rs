//! Many clients at once, none of which can hold up the others.

use std::collections::HashMap;
use std::io::ErrorKind;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use deskhand_protocol::{Error, ErrorCode};

use crate::allow::{Allowlist, Check, Refusal};
use crate::connection::Connection;
use crate::endpoint::Endpoint;
use crate::lanes::Lanes;
use crate::limits::Limits;
use crate::peer::credentials;
use crate::pool::Pool;
use crate::processes::Processes;
use crate::quiet::Quiet;
use crate::replay::{NonceBook, system_clock};
use crate::service::Service;

/// Stack of a connection's reader: enough for the deepest JSON that is taken.
const READER_STACK: usize = 512 * 1024;

/// A running bridge. Dropping it closes every connection; [`Server::shutdown`] does it politely.
pub struct Server {
    shared: Arc<Shared>,
    /// Holds the lock until everything else has ended.
    endpoint: Arc<Endpoint>,
    acceptor: Option<JoinHandle<()>>,
}

pub(crate) struct Shared {
    pub(crate) service: Arc<dyn Service>,
    pub(crate) allowlist: Allowlist,
    pub(crate) limits: Limits,
    pub(crate) lanes: Lanes,
    pub(crate) pool: Pool,
    pub(crate) nonces: NonceBook,
    processes: Processes,
    /// Refusals by program and check.
    refusals: Quiet<(Option<PathBuf>, Check)>,
    /// Connections turned away, by the cap that was hit.
    turned_away: Quiet<&'static str>,
    connections: Mutex<HashMap<u64, Arc<Connection>>>,
    fewer: Condvar,
    closing: AtomicBool,
}

impl Server {
    /// Begins to serve on a socket that was bound before.
    pub fn start(
        endpoint: Endpoint,
        service: Arc<dyn Service>,
        allowlist: Allowlist,
        limits: Limits,
    ) -> Result<Self, Error> {
        let endpoint = Arc::new(endpoint);
        let shared = Arc::new(Shared {
            service,
            allowlist,
            lanes: Lanes::new(limits.calls, limits.others),
            pool: Pool::new(limits.threads(), limits.idle_worker),
            nonces: NonceBook::new(system_clock()),
            processes: Processes::default(),
            refusals: Quiet::new(limits.refusal_every),
            turned_away: Quiet::new(limits.refusal_every),
            connections: Mutex::default(),
            fewer: Condvar::new(),
            closing: AtomicBool::new(false),
            limits,
        });
        let (place, host) = (Arc::clone(&endpoint), Arc::clone(&shared));
        let acceptor = std::thread::Builder::new()
            .name("bridge-accept".to_owned())
            .spawn(move || accept(&place, &host))
            .map_err(|error| Error::new(ErrorCode::Internal, format!("no thread for the bridge: {error}")))?;
        Ok(Self { shared, endpoint, acceptor: Some(acceptor) })
    }

    /// Connected clients.
    #[must_use]
    pub fn clients(&self) -> usize {
        self.shared.lock().len()
    }

    /// Worker threads alive.
    #[must_use]
    pub fn workers(&self) -> usize {
        self.shared.pool.threads()
    }

    /// Takes no more clients, waits at most `grace` for what runs and for answers to be read, then
    /// closes everything and removes the socket.
    pub fn shutdown(mut self, grace: Duration) {
        self.stop_accepting();
        let deadline = Instant::now() + grace;
        loop {
            let busy = self.shared.lock().values().any(|one| one.running() > 0 || !one.outgoing.is_flushed());
            if !busy || Instant::now() >= deadline {
                break;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        self.close_all();
    }

    fn stop_accepting(&mut self) {
        self.shared.closing.store(true, Ordering::Release);
        self.endpoint.close();
        if let Some(acceptor) = self.acceptor.take() {
            let _ = acceptor.join();
        }
    }

    /// Closes every connection and waits a moment for their readers.
    fn close_all(&mut self) {
        let deadline = Instant::now() + Duration::from_secs(2);
        let mut connections = self.shared.lock();
        for connection in connections.values() {
            connection.outgoing.close();
        }
        while !connections.is_empty() {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            connections =
                self.shared.fewer.wait_timeout(connections, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop_accepting();
        self.close_all();
    }
}

impl Shared {
    pub(crate) fn is_closing(&self) -> bool {
        self.closing.load(Ordering::Acquire)
    }

    /// Tells the service about a refusal, unless it was told of the same one just now.
    pub(crate) fn refused(&self, refusal: &Refusal) {
        let key = (refusal.peer.exe.clone(), refusal.check);
        match self.refusals.may_tell(key, Instant::now()) {
            None => {}
            Some(0) => self.service.refused(refusal),
            Some(more) => {
                let why = format!("{} ({more} refusals before this one were not told)", refusal.why);
                self.service.refused(&Refusal { why, ..refusal.clone() });
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<u64, Arc<Connection>>> {
        self.connections.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn accept(endpoint: &Endpoint, shared: &Arc<Shared>) {
    let mut number = 0;
    loop {
        match endpoint.listener().accept() {
            _ if shared.is_closing() => return,
            Ok((socket, _)) => {
                number += 1;
                welcome(number, socket, shared);
            }
            Err(error) if matches!(error.kind(), ErrorKind::Interrupted | ErrorKind::ConnectionAborted) => {}
            Err(error) => {
                // Out of descriptors, most likely: clients wait in the backlog until some are free.
                shared.service.notice(&format!("cannot accept a connection: {error}"));
                std::thread::sleep(Duration::from_millis(100));
            }
        }
    }
}

/// A cap that was hit.
struct Full {
    cap: &'static str,
    limit: usize,
    why: String,
}

/// Is there room for one more, with so many open and so many of them of the same process? `true`
/// when it is a place of the reserve: for those who have no connection yet, because who has one can
/// stop things there.
fn room(limits: &Limits, open: usize, theirs: usize) -> Result<bool, Full> {
    let most = limits.connections;
    if theirs >= limits.connections_per_process {
        let limit = limits.connections_per_process;
        let why = format!("this process holds {theirs} connections, the most for one process is {limit}");
        return Err(Full { cap: "connections_per_process", limit, why });
    }
    if open >= most {
        let why = format!("{most} clients are connected, no room for more");
        return Err(Full { cap: "connections", limit: most, why });
    }
    let reserved = open >= most.saturating_sub(limits.reserved);
    if reserved && theirs > 0 {
        let limit = most.saturating_sub(limits.reserved);
        let why = format!("{open} clients are connected, the rest is kept for who has no connection yet");
        return Err(Full { cap: "reserved", limit, why });
    }
    Ok(reserved)
}

/// Never blocks: what takes time happens on the connection's own thread.
fn welcome(number: u64, socket: UnixStream, shared: &Arc<Shared>) {
    let facts = match credentials(&socket) {
        Ok(facts) => facts,
        Err(error) => {
            return shared.service.notice(&format!("connection {number}: no credentials: {error}"));
        }
    };
    let mut connections = shared.lock();
    let theirs = connections.values().filter(|one| one.process.pid == facts.pid).count();
    let reserved = match room(&shared.limits, connections.len(), theirs) {
        Ok(reserved) => reserved,
        Err(full) => {
            drop(connections);
            if let Some(more) = shared.turned_away.may_tell(full.cap, Instant::now()) {
                let (pid, why) = (facts.pid, &full.why);
                shared.service.notice(&format!(
                    "connection {number} of pid {pid} turned away: {why}; {more} before it were not told"
                ));
            }
            let error = Error::new(ErrorCode::Busy, full.why)
                .hint("close a connection, then try again")
                .detail("limit", full.limit)
                .detail("cap", full.cap);
            return Connection::turn_away(&socket, error);
        }
    };
    let process = shared.processes.of(facts.pid, &shared.limits);
    let connection = match Connection::new(number, socket, process, reserved, shared) {
        Ok(connection) => Arc::new(connection),
        Err(error) => {
            return shared.service.notice(&format!("connection {number} could not be set up: {error}"));
        }
    };
    connections.insert(number, Arc::clone(&connection));
    drop(connections);
    let host = Arc::clone(shared);
    let spawned = std::thread::Builder::new()
        .name("bridge-reader".to_owned())
        .stack_size(READER_STACK)
        .spawn(move || {
            connection.serve(facts, &host);
            host.lock().remove(&number);
            host.fewer.notify_all();
        });
    if let Err(error) = spawned {
        shared.lock().remove(&number);
        shared.service.notice(&format!("connection {number} closed, no thread for it: {error}"));
    }
}
