//! Many clients at once, none of which can hold up the others.

use std::collections::HashMap;
use std::io::ErrorKind;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use deskhand_protocol::{Error, ErrorCode};

use crate::allow::Allowlist;
use crate::connection::Connection;
use crate::endpoint::Endpoint;
use crate::lanes::Lanes;
use crate::limits::Limits;
use crate::pool::Pool;
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

/// Never blocks: what takes time happens on the connection's own thread.
fn welcome(number: u64, socket: UnixStream, shared: &Arc<Shared>) {
    let mut connections = shared.lock();
    if connections.len() >= shared.limits.connections {
        drop(connections);
        let most = shared.limits.connections;
        shared.service.notice(&format!("connection {number} turned away: {most} are open"));
        let error = Error::new(ErrorCode::Busy, format!("{most} clients are connected, no room for more"))
            .hint("close a connection, then try again")
            .detail("limit", most);
        return Connection::turn_away(&socket, error);
    }
    let connection = match Connection::new(number, socket, shared) {
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
            connection.serve(&host);
            host.lock().remove(&number);
            host.fewer.notify_all();
        });
    if let Err(error) = spawned {
        shared.lock().remove(&number);
        shared.service.notice(&format!("connection {number} closed, no thread for it: {error}"));
    }
}
