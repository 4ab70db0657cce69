//! One file per command.

pub(crate) mod abort;
pub(crate) mod batch;
pub(crate) mod call;
pub(crate) mod callers;
pub(crate) mod completions;
pub(crate) mod describe;
pub(crate) mod desk;
pub(crate) mod doctor;
pub(crate) mod down;
pub(crate) mod evidence;
pub(crate) mod man;
pub(crate) mod resume;
pub(crate) mod serve_host;
pub(crate) mod status;
pub(crate) mod stop;
pub(crate) mod tools;
pub(crate) mod up;
pub(crate) mod version;
