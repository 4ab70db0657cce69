//! The tools: one file each under `tools/`, `META` beside the code, one flat list in [`registry`].
//!
//! Around them, what tools share: the [`Tool`] trait, routes, places, aims, selectors, snapshots,
//! pointer paths and key names. No policy and no store: whether a call may run, and where its
//! evidence goes, is the host's business.

mod aim;
mod ctx;
mod fingerprint;
mod keys;
mod motion;
mod place;
mod registry;
mod route;
mod select;
mod snapshots;
mod tool;
mod tools;

pub use ctx::{Ctx, Done, Marks, Notebook, Watch};
pub use registry::{ALL, find, infos};
pub use route::{Routed, frontmost, resolve};
pub use select::{Scored, select};
pub use snapshots::{Books, Shot, Snapshot};
pub use tool::{AnyTool, Assess, Parsed, Tool};
