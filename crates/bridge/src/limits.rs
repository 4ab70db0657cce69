//! Every bound of the bridge in one place.

use std::time::Duration;

use deskhand_protocol::MAX_REQUEST_BYTES;

/// Bounds of a server. The defaults are what the host uses; tests make them small.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Connections at once; the next one is answered `DESKTOP_BUSY` and closed.
    pub connections: usize,
    /// How many of these are kept for processes that have none yet, and take nothing but `hello`,
    /// `abort`, `stop`, `resume`, `status` and `shutdown`: a stop gets in when all others are taken.
    pub reserved: usize,
    /// Connections of one process.
    pub connections_per_process: usize,
    /// Largest request line.
    pub request_bytes: usize,
    /// `call`s in flight on one connection.
    pub calls_per_connection: usize,
    /// `call`s in flight over all connections of one process.
    pub calls_per_process: usize,
    /// `call`s in flight over all connections.
    pub calls: usize,
    /// Other requests in flight on one connection, for each of the two kinds (urgent, queries).
    pub others_per_connection: usize,
    /// Other requests in flight over all connections of one process, for each of the two kinds.
    pub others_per_process: usize,
    /// Other requests in flight over all connections, for each of the two kinds.
    pub others: usize,
    /// Bytes waiting for a client that reads slowly; more closes its connection.
    pub queue_bytes: usize,
    /// Answers waiting for a client that reads slowly; more closes its connection.
    pub queue_messages: usize,
    /// Time a new connection has to say `hello`, and a reserved one may stay idle.
    pub hello: Duration,
    /// Time a client may take without reading a byte of a waiting answer, or without sending the
    /// next byte of half a request.
    pub stall: Duration,
    /// An idle worker thread ends after this.
    pub idle_worker: Duration,
    /// The same refusal of the same program is told to the service once in this time.
    pub refusal_every: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 256,
            reserved: 8,
            connections_per_process: 120,
            request_bytes: MAX_REQUEST_BYTES,
            calls_per_connection: 32,
            calls_per_process: 64,
            calls: 256,
            others_per_connection: 8,
            others_per_process: 32,
            others: 64,
            queue_bytes: 64 * 1024 * 1024,
            queue_messages: 1024,
            hello: Duration::from_secs(10),
            stall: Duration::from_secs(30),
            idle_worker: Duration::from_secs(30),
            refusal_every: Duration::from_secs(60),
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
