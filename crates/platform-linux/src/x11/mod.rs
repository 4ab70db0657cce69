//! The X11 side: connections and what every X11 facet shares.

mod connection;
mod scale;
mod stream;

pub(crate) use connection::{Atoms, Conn, Link, Raw, Reply};
pub(crate) use scale::Scale;
pub(crate) use stream::{hung_up, wait as stream_wait};
