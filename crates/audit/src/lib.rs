//! What happened, provably: records, a hash chain over them, and its verifier.
//!
//! [`Log`] appends [`Record`]s to a file of lines, each of which carries the hash of the one before.
//! [`verify`] finds the first line that was changed, deleted, moved or inserted. What a chain alone
//! cannot show is that its end was cut off, or that all of it was written anew: for that, compare
//! the [`Head`] with one kept elsewhere ([`verify_against`]).
//!
//! Secrets never get in: [`redact`] goes over arguments first.

mod chain;
mod log;
mod record;
mod redact;
mod tail;
mod verify;

pub use chain::Head;
pub use log::{GROUP_COMMIT, Log, MAX_RECORD_BYTES, OpenError};
pub use record::{Kind, Record};
pub use redact::{MAX_TEXT_BYTES, Typed, redact};
pub use verify::{Fault, Report, What, verify, verify_against};
