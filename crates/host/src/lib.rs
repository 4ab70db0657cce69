//! The only path to an action: peer → parse → assess → decide → lane → run → verify → evidence → audit.
//!
//! The bridge hands every call to [`Host::call`]; there is no second way. The host knows no model
//! and no network; it acts on a [`deskhand_platform::Desktop`] and writes what it did.

mod confirm;
mod decide;
mod evidence;
mod executions;
mod gate;
mod host;
mod kept;
mod lane;
mod runner;
mod service;
mod verify;

pub use confirm::Confirm;
pub use decide::decide;
pub use evidence::EvidenceStore;
pub use gate::Caller;
pub use host::{Host, Parts};
pub use service::HostService;
