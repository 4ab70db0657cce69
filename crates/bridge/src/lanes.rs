//! How many requests may run at once, counted apart so that a stop never waits behind calls.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use deskhand_protocol::{Error, ErrorCode, method};

use crate::connection::Connection;
use crate::server::Shared;

/// The kinds of requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lane {
    /// Runs a tool.
    Call,
    /// Stops something.
    Urgent,
    /// Asks about something.
    Query,
}

impl Lane {
    pub(crate) fn of(name: &str) -> Self {
        match name {
            method::CALL => Lane::Call,
            method::ABORT | method::STOP | method::SHUTDOWN => Lane::Urgent,
            _ => Lane::Query,
        }
    }
}

/// What a connection of the reserve takes, so that it stays free for those who stop things.
pub(crate) fn is_for_reserve(name: &str) -> bool {
    matches!(name, method::ABORT | method::STOP | method::RESUME | method::STATUS | method::SHUTDOWN)
}

/// One counter per lane.
pub(crate) struct Lanes {
    used: [AtomicUsize; 3],
    most: [usize; 3],
}

impl Lanes {
    pub(crate) fn new(calls: usize, others: usize) -> Self {
        Self { used: Default::default(), most: [calls, others, others] }
    }

    fn take(&self, lane: Lane) -> bool {
        let (used, most) = (&self.used[lane as usize], self.most[lane as usize]);
        used.fetch_update(Ordering::AcqRel, Ordering::Acquire, |now| (now < most).then_some(now + 1)).is_ok()
    }

    fn give_back(&self, lane: Lane) {
        self.used[lane as usize].fetch_sub(1, Ordering::AcqRel);
    }
}

/// The right to run one request; given back when dropped.
pub(crate) struct Permit {
    lane: Lane,
    shared: Arc<Shared>,
    connection: Arc<Connection>,
}

impl Permit {
    pub(crate) fn take(
        lane: Lane,
        shared: &Arc<Shared>,
        connection: &Arc<Connection>,
    ) -> Result<Self, Error> {
        let levels = [
            (&connection.lanes, "on this connection"),
            (&connection.process.lanes, "for this process"),
            (&shared.lanes, "over all connections"),
        ];
        for (taken, (lanes, whose)) in levels.iter().enumerate() {
            if !lanes.take(lane) {
                for (lanes, _) in &levels[..taken] {
                    lanes.give_back(lane);
                }
                let most = lanes.most[lane as usize];
                return Err(Error::new(
                    ErrorCode::Busy,
                    format!("{most} requests of this kind run already {whose}"),
                )
                .detail("limit", most));
            }
        }
        Ok(Self { lane, shared: Arc::clone(shared), connection: Arc::clone(connection) })
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.connection.lanes.give_back(self.lane);
        self.connection.process.lanes.give_back(self.lane);
        self.shared.lanes.give_back(self.lane);
    }
}
