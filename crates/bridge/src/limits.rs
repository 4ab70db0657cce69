//! Every bound of the bridge in one place.

use std::time::Duration;

use deskhand_protocol::MAX_REQUEST_BYTES;

/// Bounds of a server. The defaults are what the host uses; tests make them small.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Connections at once; the next one is answered `DESKTOP_BUSY` and closed.
    pub connections: usize,
    /// Largest request line.
    pub request_bytes: usize,
    /// `call`s in flight on one connection.
    pub calls_per_connection: usize,
    /// `call`s in flight over all connections.
    pub calls: usize,
    /// Other requests in flight on one connection, for each of the two kinds (urgent, queries).
    pub others_per_connection: usize,
    /// Other requests in flight over all connections, for each of the two kinds.
    pub others: usize,
    /// Bytes waiting for a client that reads slowly; more closes its connection.
    pub queue_bytes: usize,
    /// Answers waiting for a client that reads slowly; more closes its connection.
    pub queue_messages: usize,
    /// Time a new connection has to say `hello`.
    pub hello: Duration,
    /// Time a client may take without reading a byte of a waiting answer, or without sending the
    /// next byte of half a request.
    pub stall: Duration,
    /// An idle worker thread ends after this.
    pub idle_worker: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 256,
            request_bytes: MAX_REQUEST_BYTES,
            calls_per_connection: 32,
            calls: 256,
            others_per_connection: 8,
            others: 64,
            queue_bytes: 64 * 1024 * 1024,
            queue_messages: 1024,
            hello: Duration::from_secs(10),
            stall: Duration::from_secs(30),
            idle_worker: Duration::from_secs(30),
        }
    }
}

impl Limits {
    /// Threads the pool may need: everything that can be in flight, and one per connection that is
    /// still handing its answer to a slow client.
    pub(crate) fn threads(&self) -> usize {
        self.calls + 2 * self.others + self.connections
    }
}
