//! Where Deskhand keeps its things, and (later) its layered settings.
//!
//! One home folder, `~/.deskhand`, mode 0700; `DESKHAND_HOME` moves all of it.

mod home;

pub use home::{Home, HomeError};
