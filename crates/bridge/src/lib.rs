//! The one door between those who think and the one who acts: JSON-RPC 2.0, one object per line,
//! over a local socket.
//!
//! Who may come in is decided by the kernel's word ([`Peer`]) and a list of programs
//! ([`Allowlist`], [`callers`]); what comes in is cut into lines ([`Decoder`]), read
//! ([`parse`]), and taken at most once ([`NonceBook`]). [`Server`] serves a [`Service`];
//! [`Client`] talks to it. Everything is bounded ([`Limits`]) and says when a bound was hit.
//!
//! The handshake: the host examines the process that connected, then sends one line,
//! `{"jsonrpc":"2.0","method":"challenge","params":{"challenge":"<32 hex>"}}`; the client's `hello`
//! repeats it, with the first request right behind. What was written before the examination cannot
//! know the challenge, so a program cannot write first and become an allowed one afterwards.
//!
//! Nothing here knows what a tool does, and there is no network port.

mod allow;
mod call_request;
pub mod callers;
mod client;
mod connection;
mod endpoint;
mod envelope;
mod frame;
mod gone;
mod handshake;
mod hash;
mod lanes;
mod limits;
mod outgoing;
mod peer;
mod pool;
mod processes;
mod quiet;
mod replay;
mod reply;
mod request;
mod server;
mod service;

pub use allow::{Allowlist, Check, OWN_PROGRAMS, Refusal};
pub use call_request::CallRequest;
pub use client::{Answer, Client, MAX_IN_FLIGHT};
pub use endpoint::{Endpoint, lock_holder};
pub use frame::{Decoder, Frame};
pub use gone::{Gone, OnGone};
pub use hash::{HashCache, Identity};
pub use limits::Limits;
pub use peer::{Peer, PeerFacts};
pub use replay::{Clock, MAX_AHEAD_MS, MAX_NONCES, NONCE_CHARS, NonceBook, system_clock};
pub use reply::Reply;
pub use request::{Malformed, Request, parse};
pub use server::Server;
pub use service::{CallContext, Service, unknown_method};
