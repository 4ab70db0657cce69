//! Virtual desks: private desktops with an X server, a window manager, a session bus and the
//! accessibility bus, so that an agent can work without taking the screen of a person.
//!
//! A desk is kept by a supervisor, the program `deskhand-desk`, which people never type. It is the
//! parent of everything on the desk and ends all of it when its owner goes away, however the owner
//! goes away. What the supervisor itself might leave behind when it is killed is removed by the next
//! [`list`], [`sweep`] or [`Desk::start`].
//!
//! - [`Desk`]: start or attach to one, its environment, a command on it, a picture of it.
//! - [`exec`]: one command on a fresh desk, everything cleaned up after.
//! - [`list`], [`stop`], [`sweep`]: the desks of a home.

mod a11y;
mod desk;
mod dirs;
mod env;
mod error;
mod exec;
mod locate;
mod options;
mod procs;
mod registry;
mod state;
pub mod supervisor;
mod x11;

pub use desk::Desk;
pub use env::UNSET;
pub use error::{DeskError, Result};
pub use exec::exec;
pub use options::{MAX_SIDE, MIN_SIDE, Options, Owner, check_name, parse_size};
pub use registry::{list, stop, sweep};
pub use state::DeskInfo;
