//! What can go wrong with a desk.

use std::io;
use std::path::PathBuf;

use deskhand_config::HomeError;
use deskhand_protocol::{Error, ErrorCode};
use serde::{Deserialize, Serialize};

/// What every fallible part of this crate returns.
pub type Result<T, E = DeskError> = std::result::Result<T, E>;

/// Why a desk cannot be started, found or used.
#[derive(Debug, thiserror::Error)]
pub enum DeskError {
    /// The home folder is unusable.
    #[error(transparent)]
    Home(#[from] HomeError),
    /// The name is not one a desk can have.
    #[error("name is {0:?}: a desk's name is 1 to 32 of a-z, 0-9 and -")]
    Name(String),
    /// The size is not one a desk can have.
    #[error("{field} is {value:?}: {fix}")]
    Size {
        /// Which size.
        field: &'static str,
        /// What was given.
        value: String,
        /// What would be right.
        fix: String,
    },
    /// Another desk has the name.
    #[error("name is {0:?}: a desk of that name is running")]
    InUse(String),
    /// No desk has the name.
    #[error("there is no desk {0:?}")]
    NotFound(String),
    /// Every automatic name is taken.
    #[error("{0} desks are running, which is the most one home keeps")]
    TooMany(usize),
    /// Programs a desk is made of are missing.
    #[error("a desk needs {}, not found in PATH", programs.join(", "))]
    Missing {
        /// The programs.
        programs: Vec<String>,
        /// The line that installs them.
        install: String,
    },
    /// The supervisor program is missing.
    #[error("the program deskhand-desk is neither beside this program nor in PATH")]
    NoSupervisor,
    /// A part did not come up.
    #[error("{part} did not start: {why}")]
    Start {
        /// Which part.
        part: String,
        /// What it said.
        why: String,
    },
    /// The supervisor said what was wrong, in the words of the wire.
    #[error("{}", .0.message)]
    Told(Error),
    /// The desk ended by itself.
    #[error("the desk ended: {0}")]
    Ended(String),
    /// Something did not end in its time.
    #[error("{what} within {seconds} s")]
    Timeout {
        /// What was waited for.
        what: String,
        /// How long.
        seconds: u64,
    },
    /// The X server refused or broke off.
    #[error("the desk's X server: {0}")]
    Display(String),
    /// A file or process operation failed.
    #[error("{what} {path:?}: {source}")]
    Io {
        /// What was attempted.
        what: &'static str,
        /// On what.
        path: PathBuf,
        /// Why it failed.
        source: io::Error,
    },
}

impl DeskError {
    /// Names the file and what was attempted.
    pub(crate) fn io(what: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { what, path, source }
    }

    /// A part that did not come up.
    #[expect(clippy::needless_pass_by_value, reason = "callers hand over errors they are done with")]
    pub(crate) fn start(part: &str, why: impl ToString) -> Self {
        Self::Start { part: part.to_owned(), why: why.to_string() }
    }
}

impl From<DeskError> for Error {
    fn from(error: DeskError) -> Self {
        let message = error.to_string();
        match error {
            DeskError::Told(error) => error,
            DeskError::Home(error) => error.into(),
            DeskError::Name(_) => Error::new(ErrorCode::InvalidInput, message)
                .hint("use a name such as `work-1`, or leave it out to get one"),
            DeskError::Size { .. } => {
                Error::new(ErrorCode::InvalidInput, message).hint("give a size such as 1920x1080")
            }
            DeskError::InUse(name) => Error::new(ErrorCode::InvalidInput, message)
                .hint(format!("choose another name, or end it with `deskhand desk stop {name}`")),
            DeskError::NotFound(_) => {
                Error::new(ErrorCode::NotFound, message).hint("`deskhand desk list` shows those there are")
            }
            DeskError::TooMany(_) => {
                Error::new(ErrorCode::Busy, message).hint("end some with `deskhand desk stop NAME`")
            }
            DeskError::Missing { install, programs } => Error::new(ErrorCode::Unsupported, message)
                .hint(format!("install what is missing: {install}"))
                .detail("missing", programs)
                .detail("install", install),
            DeskError::NoSupervisor => Error::new(ErrorCode::Unsupported, message)
                .hint("install deskhand-desk beside deskhand, or set DESKHAND_DESK_BIN to its path"),
            DeskError::Start { .. } | DeskError::Ended(_) | DeskError::Display(_) => {
                Error::new(ErrorCode::DisplayUnavailable, message)
                    .hint("the log desks.log in the home's logs folder says more; start the desk again")
            }
            DeskError::Timeout { .. } => Error::new(ErrorCode::Timeout, message)
                .hint("the machine may be overloaded: look with `deskhand desk list`, then try again"),
            DeskError::Io { .. } => Error::new(ErrorCode::Internal, message)
                .hint("check the disk and the rights of the home folder"),
        }
    }
}

/// The first line a supervisor says.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Said<T> {
    /// The desk is up.
    Ready(T),
    /// It is not.
    Error(Error),
}
