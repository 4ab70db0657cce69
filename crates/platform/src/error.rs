//! What can go wrong with a desktop.

use deskhand_protocol::{Error, ErrorCode};

/// What every facet returns.
pub type Result<T, E = PlatformError> = std::result::Result<T, E>;

/// A source kept for the log.
type Source = Box<dyn std::error::Error + Send + Sync>;

/// Errors of the facets. Each maps to one code on the wire.
#[derive(Debug, thiserror::Error)]
pub enum PlatformError {
    /// The scope was cancelled.
    #[error("aborted")]
    Cancelled,
    /// The scope's deadline passed.
    #[error("timed out while {doing}")]
    Timeout {
        /// What was being done.
        doing: String,
    },
    /// The display server is gone.
    #[error("the display server does not answer ({doing})")]
    DisplayUnavailable {
        /// What was being done.
        doing: String,
        /// The cause.
        #[source]
        source: Option<Source>,
    },
    /// The accessibility bus is gone.
    #[error("the accessibility bus does not answer ({doing})")]
    AxUnavailable {
        /// What was being done.
        doing: String,
        /// The cause.
        #[source]
        source: Option<Source>,
    },
    /// The operating system says no.
    #[error("the system does not allow {what}")]
    PermissionMissing {
        /// What.
        what: String,
        /// How to allow it.
        fix: String,
    },
    /// This desktop cannot do it.
    #[error("{what} is not available here: {why}")]
    Unsupported {
        /// What.
        what: String,
        /// Why.
        why: String,
    },
    /// The application does not answer.
    #[error("{app} does not answer ({doing})")]
    AppUnresponsive {
        /// Name and pid.
        app: String,
        /// What was asked of it.
        doing: String,
    },
    /// No such window.
    #[error("there is no window {what}")]
    WindowNotFound {
        /// What was looked for.
        what: String,
    },
    /// No such application.
    #[error("there is no application {what}")]
    AppNotFound {
        /// What was looked for.
        what: String,
    },
    /// The element is gone or is another one now.
    #[error("the element is gone: {what}")]
    ElementGone {
        /// Which.
        what: String,
    },
    /// The element cannot take the action.
    #[error("{what} cannot be acted on: {reason}")]
    NotActionable {
        /// Which.
        what: String,
        /// hidden, disabled, covered, no such action…
        reason: String,
    },
    /// The element holds a secret.
    #[error("{what} is a password field and is never read")]
    Secure {
        /// Which.
        what: String,
    },
    /// A place outside the desktop.
    #[error("{what} is outside the desktop")]
    OutOfRange {
        /// Which.
        what: String,
    },
    /// A value the facet cannot take.
    #[error("{field}: {why}")]
    Invalid {
        /// The field.
        field: String,
        /// What is wrong with it.
        why: String,
    },
    /// Anything else; a fault to be reported.
    #[error("{doing} failed: {source}")]
    Other {
        /// What was being done.
        doing: String,
        /// The cause.
        #[source]
        source: Source,
    },
}

impl PlatformError {
    /// A display error with its cause.
    pub fn display(doing: impl Into<String>, source: impl Into<Source>) -> Self {
        Self::DisplayUnavailable { doing: doing.into(), source: Some(source.into()) }
    }

    /// An accessibility error with its cause.
    pub fn ax(doing: impl Into<String>, source: impl Into<Source>) -> Self {
        Self::AxUnavailable { doing: doing.into(), source: Some(source.into()) }
    }

    /// Any other error with its cause.
    pub fn other(doing: impl Into<String>, source: impl Into<Source>) -> Self {
        Self::Other { doing: doing.into(), source: source.into() }
    }

    /// The code on the wire.
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Cancelled => ErrorCode::Aborted,
            Self::Timeout { .. } => ErrorCode::Timeout,
            Self::DisplayUnavailable { .. } => ErrorCode::DisplayUnavailable,
            Self::AxUnavailable { .. } => ErrorCode::AxUnavailable,
            Self::PermissionMissing { .. } => ErrorCode::PermissionMissing,
            Self::Unsupported { .. } => ErrorCode::Unsupported,
            Self::AppUnresponsive { .. } => ErrorCode::AppUnresponsive,
            Self::WindowNotFound { .. } => ErrorCode::WindowNotFound,
            Self::AppNotFound { .. } => ErrorCode::AppNotFound,
            Self::ElementGone { .. } => ErrorCode::StaleSnapshot,
            Self::NotActionable { .. } => ErrorCode::NotActionable,
            Self::Secure { .. } => ErrorCode::SecureField,
            Self::OutOfRange { .. } => ErrorCode::OutOfRange,
            Self::Invalid { .. } => ErrorCode::InvalidInput,
            Self::Other { .. } => ErrorCode::Internal,
        }
    }
}

impl From<PlatformError> for Error {
    fn from(error: PlatformError) -> Self {
        let mut message = error.to_string();
        if let PlatformError::DisplayUnavailable { source: Some(s), .. }
        | PlatformError::AxUnavailable { source: Some(s), .. } = &error
        {
            message = format!("{message}: {s}");
        }
        let mut out = Error::new(error.code(), message);
        match error {
            PlatformError::PermissionMissing { fix, .. } => out = out.hint(fix),
            PlatformError::NotActionable { reason, .. } => out = out.detail("reason", reason),
            _ => {}
        }
        out
    }
}
