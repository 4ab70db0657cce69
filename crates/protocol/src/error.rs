//! One stable error code on the wire, with words for people and facts for programs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// What every fallible part of the protocol returns.
pub type Result<T, E = Error> = std::result::Result<T, E>;

macro_rules! codes {
    ($($(#[$doc:meta])* $variant:ident = $word:literal, retryable: $retryable:literal, hint: $hint:literal;)*) => {
        /// Every way a call can end badly. The first ten are the host seed's own.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
        pub enum ErrorCode {
            $($(#[$doc])* #[serde(rename = $word)] $variant,)*
        }

        impl ErrorCode {
            /// All codes, in the order they are documented.
            pub const ALL: &'static [ErrorCode] = &[$(ErrorCode::$variant),*];

            /// The word on the wire.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(ErrorCode::$variant => $word),* }
            }

            /// Whether the same call may succeed later without being changed.
            #[must_use]
            pub const fn retryable(self) -> bool {
                match self { $(ErrorCode::$variant => $retryable),* }
            }

            /// What to do about it when nothing more exact is known.
            #[must_use]
            pub const fn default_hint(self) -> &'static str {
                match self { $(ErrorCode::$variant => $hint),* }
            }
        }
    };
}

codes! {
    /// No host answers on the socket.
    HostNotRunning = "DESKTOP_HOST_NOT_RUNNING", retryable: true, hint: "start it with `deskhand up --detach`";
    /// The operating system does not let the host see or touch what the call needs.
    PermissionMissing = "DESKTOP_PERMISSION_MISSING", retryable: false, hint: "run `deskhand doctor` to see which grant is missing and how to give it";
    /// A traversal stopped at one of its bounds; the partial tree is in the answer.
    AxTraversalLimit = "DESKTOP_AX_TRAVERSAL_LIMIT", retryable: false, hint: "raise maxNodes, maxDepth or maxWallTimeMs, or start from a smaller root";
    /// The call did not finish within its time.
    Timeout = "DESKTOP_TIMEOUT", retryable: true, hint: "it may have happened: observe before you try again, or give a larger timeoutMs";
    /// No element fits the selector.
    ElementNotFound = "DESKTOP_ELEMENT_NOT_FOUND", retryable: true, hint: "observe again, or loosen the selector; near misses are in details.candidates";
    /// An action with side effects came without its confirmation phrase.
    ConfirmRequired = "DESKTOP_CONFIRM_REQUIRED", retryable: true, hint: "send the same call again with confirm set to details.phrase";
    /// The call was aborted; no further input was sent.
    Aborted = "DESKTOP_ABORTED", retryable: false, hint: "observe before you go on: the action may be half done";
    /// A modal dialog lies between the call and its target.
    ModalBlocking = "DESKTOP_MODAL_BLOCKING", retryable: true, hint: "answer the dialog named in details.modal first";
    /// The window that must have the focus does not have it.
    FocusLost = "DESKTOP_FOCUS_LOST", retryable: true, hint: "use focusPolicy focusIfNeeded, or app_switch to it first";
    /// The element or snapshot named no longer is what it was.
    StaleSnapshot = "DESKTOP_STALE_SNAPSHOT", retryable: true, hint: "observe or find again and use the new reference";
    /// There is no tool of that name.
    UnknownTool = "DESKTOP_UNKNOWN_TOOL", retryable: false, hint: "`deskhand tools` lists them";
    /// A field of the arguments is wrong.
    InvalidInput = "DESKTOP_INVALID_INPUT", retryable: false, hint: "`deskhand describe TOOL` shows the fields";
    /// A coordinate lies outside the desktop.
    OutOfRange = "DESKTOP_OUT_OF_RANGE", retryable: false, hint: "stay inside details.valid";
    /// Several displays, and the call does not say which.
    DisplayRequired = "DESKTOP_DISPLAY_REQUIRED", retryable: false, hint: "name one of details.displays in route.display.displayId";
    /// No window fits.
    WindowNotFound = "DESKTOP_WINDOW_NOT_FOUND", retryable: true, hint: "details.windows lists the open ones";
    /// No application fits, or the pid is dead.
    AppNotFound = "DESKTOP_APP_NOT_FOUND", retryable: true, hint: "`deskhand call app_list` shows what runs";
    /// The application does not answer (frozen or very busy).
    AppUnresponsive = "DESKTOP_APP_UNRESPONSIVE", retryable: true, hint: "the application is frozen or busy: wait, or close it with app_close";
    /// The element cannot take this action now (hidden, disabled, covered).
    NotActionable = "DESKTOP_NOT_ACTIONABLE", retryable: true, hint: "details.reason says what is in the way";
    /// The element holds a secret and is never read.
    SecureField = "DESKTOP_SECURE_FIELD", retryable: false, hint: "password fields are never read";
    /// The display server is gone or cannot be reached.
    DisplayUnavailable = "DESKTOP_DISPLAY_UNAVAILABLE", retryable: true, hint: "the display server does not answer: `deskhand doctor`, then `deskhand up` again";
    /// The accessibility bus is gone or cannot be reached.
    AxUnavailable = "DESKTOP_AX_UNAVAILABLE", retryable: true, hint: "the accessibility bus does not answer: `deskhand doctor` says how to start it";
    /// This desktop lacks what the call needs.
    Unsupported = "DESKTOP_UNSUPPORTED", retryable: false, hint: "`deskhand doctor` shows what this desktop can do";
    /// The caller is not on the list of programs that may use the bridge.
    CallerRefused = "DESKTOP_CALLER_REFUSED", retryable: false, hint: "the owner can allow this program with `deskhand callers allow PATH`";
    /// The nonce was used before.
    NonceReplayed = "DESKTOP_NONCE_REPLAYED", retryable: false, hint: "use a fresh nonce for every request";
    /// The request's expiresAt has passed, or lies too far ahead.
    RequestExpired = "DESKTOP_REQUEST_EXPIRED", retryable: true, hint: "send it again with a fresh expiresAt at most five minutes ahead";
    /// Too much is waiting already.
    Busy = "DESKTOP_BUSY", retryable: true, hint: "wait for earlier calls to end";
    /// An emergency stop holds the desktop.
    Stopped = "DESKTOP_STOPPED", retryable: true, hint: "the owner lets actions run again with `deskhand resume`";
    /// Policy does not allow this call.
    Blocked = "DESKTOP_BLOCKED", retryable: false, hint: "details.why names the rule and who set it";
    /// The evidence could not be written.
    EvidenceFailed = "DESKTOP_EVIDENCE_FAILED", retryable: true, hint: "free some disk space: actions do not run when they cannot be recorded";
    /// The message on the bridge is not a request.
    BadRequest = "DESKTOP_BAD_REQUEST", retryable: false, hint: "one JSON-RPC 2.0 object per line, `hello` first";
    /// The frame is larger than the bridge takes.
    FrameTooLarge = "DESKTOP_FRAME_TOO_LARGE", retryable: false, hint: "keep a request under the limit in details.limitBytes";
    /// Another host already serves this home.
    HostAlreadyRunning = "DESKTOP_HOST_ALREADY_RUNNING", retryable: false, hint: "`deskhand status` shows it; `deskhand down` stops it";
    /// There is no execution, evidence bundle or desk of that name.
    NotFound = "DESKTOP_NOT_FOUND", retryable: false, hint: "list what there is first";
    /// A fault of Deskhand itself.
    Internal = "DESKTOP_INTERNAL", retryable: false, hint: "please report this, with the evidence bundle";
}

impl std::fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The error object of every answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Error {
    /// The stable word programs branch on.
    pub code: ErrorCode,
    /// What happened, in a sentence that names the field, the value, the window.
    pub message: String,
    /// What to do about it.
    pub hint: String,
    /// Whether the same call may succeed later.
    pub retryable: bool,
    /// Facts: frontmost app and window, candidates, valid ranges.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub details: Map<String, Value>,
}

impl Error {
    /// An error with the code's own hint.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            hint: code.default_hint().to_owned(),
            retryable: code.retryable(),
            details: Map::new(),
        }
    }

    /// Replaces the hint by a more exact one.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = hint.into();
        self
    }

    /// Adds a fact.
    #[must_use]
    pub fn detail(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.details.insert(key.to_owned(), value.into());
        self
    }
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.code, self.message)
    }
}

impl std::error::Error for Error {}
