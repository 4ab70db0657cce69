//! The words all parts of Deskhand share: ids, geometry, calls, decisions, effects, error codes.
//!
//! Types only. Nothing here reads a clock, a file or a socket, and nothing decides anything.

mod call;
mod decision;
mod effect;
mod element;
mod error;
mod geometry;
mod ids;
mod meta;
mod outcome;
mod role;
mod route;
mod selector;
mod wire;

pub use call::{Call, CallOptions, EvidenceLevel};
pub use decision::{Assessment, Decision, DecisionRecord, Reason};
pub use effect::{Effect, EffectReport, Layer};
pub use element::{ElementRef, Fingerprint, Target};
pub use error::{Error, ErrorCode, Result};
pub use geometry::{Point, Rect, Size};
pub use ids::{ElementId, ExecutionId, RequestId, ScreenshotId, SnapshotId};
pub use meta::{Category, Evidence, Lane, Level, Needs, Platform, Risk, ToolInfo, ToolMeta};
pub use outcome::{EvidenceRef, Outcome, Timings};
pub use role::Role;
pub use route::{AppRoute, DisplayRoute, FocusPolicy, Route, WindowRoute};
pub use selector::{Candidate, Near, RectMatch, Selector, TextMatch};
pub use wire::{
    BRIDGE_VERSION, CallParams, Check, CheckStatus, ExecutionInfo, ExecutionState, Hello, HelloReply,
    HostStatus, Light, MAX_REPLY_BYTES, MAX_REQUEST_BYTES, RpcError, RpcRequest, RpcResponse, method,
};
