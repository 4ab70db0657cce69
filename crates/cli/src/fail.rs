//! How a command ends badly, and how that is told.

use std::io;

use deskhand_bridge::callers::CallersError;
use deskhand_config::HomeError;
use deskhand_desk::DeskError;
use deskhand_protocol::{Error, ErrorCode};
use serde_json::{Value, json};

use crate::choices;
use crate::ctx::Ctx;

/// Exit code: refused or failed.
pub(crate) const FAILED: u8 = 1;
/// Exit code: wrong usage.
pub(crate) const USAGE: u8 = 2;

/// What a command returns: its exit code, or why it has none.
pub(crate) type Run = Result<u8, Fail>;

/// Why a command did not end well.
#[derive(Debug)]
pub(crate) enum Fail {
    /// It was asked in a wrong way.
    Usage(Error),
    /// It was refused or it failed.
    Failed(Error),
    /// Everything has been said already.
    Said(u8),
}

impl Fail {
    /// Wrong usage, in words.
    pub(crate) fn usage(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Usage(Error::new(ErrorCode::InvalidInput, message).hint(hint))
    }

    /// Tells it and returns the exit code.
    pub(crate) fn tell(&self, ctx: &Ctx) -> u8 {
        let (error, code) = match self {
            Fail::Usage(error) => (error, USAGE),
            Fail::Failed(error) => (error, FAILED),
            Fail::Said(code) => return *code,
        };
        if ctx.json {
            // Nothing is left to do when even this cannot be written.
            let _ = ctx.json(&json!({ "error": wire(error) }));
        } else {
            tell_people(ctx, error);
        }
        code
    }
}

impl From<Error> for Fail {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

impl From<HomeError> for Fail {
    fn from(error: HomeError) -> Self {
        match error {
            HomeError::Unknown | HomeError::Relative(_) => Self::Usage(error.into()),
            HomeError::Foreign { .. } | HomeError::Io { .. } => Self::Failed(error.into()),
        }
    }
}

impl From<DeskError> for Fail {
    fn from(error: DeskError) -> Self {
        Self::Failed(error.into())
    }
}

impl From<CallersError> for Fail {
    fn from(error: CallersError) -> Self {
        Self::Failed(error.into())
    }
}

/// A reader that has seen enough (`| head`) is no fault; a full disk is.
impl From<io::Error> for Fail {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            return Self::Said(0);
        }
        Self::Failed(
            Error::new(ErrorCode::Internal, format!("the output cannot be written: {error}"))
                .hint("is the disk full?"),
        )
    }
}

/// A file that cannot be read or written, by its name.
pub(crate) fn file(what: &str, path: &std::path::Path, error: &io::Error) -> Error {
    let code = match error.kind() {
        io::ErrorKind::NotFound => ErrorCode::NotFound,
        io::ErrorKind::PermissionDenied => ErrorCode::PermissionMissing,
        _ => ErrorCode::Internal,
    };
    Error::new(code, format!("{what} {}: {error}", path.display()))
        .hint("check the path, its rights and the disk")
        .detail("path", path.display().to_string())
}

/// The error with all its fields, `details` also when it is empty: programs need not ask.
pub(crate) fn wire(error: &Error) -> Value {
    json!({
        "code": error.code,
        "message": error.message,
        "hint": error.hint,
        "retryable": error.retryable,
        "details": error.details,
    })
}

/// Tells an error on standard error. Its words may be the desktop's.
pub(crate) fn tell_people(ctx: &Ctx, error: &Error) {
    let paint = ctx.err;
    let mut text = format!(
        "{} {} {}\n",
        paint.red(&format!("{}:", ctx.lang.label_error())),
        paint.foreign(&error.message),
        paint.dim(&format!("({})", error.code)),
    );
    if !error.hint.is_empty() {
        let label = paint.bold(&format!("{}:", ctx.lang.label_hint()));
        text.push_str(&format!("  {label} {}\n", paint.foreign(&error.hint)));
    }
    for (key, value) in &error.details {
        let label = paint.dim(&format!("{key}:"));
        if let Some(list) = choices::lines(key, value) {
            let none =
                if list.shown.is_empty() { format!(" {}", ctx.lang.status_none()) } else { String::new() };
            text.push_str(&format!("  {label}{none}\n"));
            for line in list.shown {
                text.push_str(&format!("    {}\n", paint.foreign(&line)));
            }
            if list.more > 0 {
                text.push_str(&format!("    {}\n", paint.dim(&ctx.lang.choices_more(list.more))));
            }
        } else if let Some(fact) = short(value).filter(|fact| !error.message.contains(fact.as_str())) {
            text.push_str(&format!("  {label} {}\n", paint.foreign(&fact)));
        }
    }
    ctx.note(&text);
}

/// A fact that fits on a line; larger ones are for programs.
fn short(value: &Value) -> Option<String> {
    let text = match value {
        Value::Null => return None,
        Value::String(text) => text.clone(),
        Value::Bool(_) | Value::Number(_) => value.to_string(),
        Value::Array(items) if items.iter().all(|item| item.is_string() || item.is_number()) => {
            items.iter().filter_map(short).collect::<Vec<_>>().join(", ")
        }
        Value::Array(_) | Value::Object(_) => return None,
    };
    (!text.is_empty() && text.chars().count() <= 300).then_some(text)
}
