//! What every command is handed.

use std::borrow::Cow;
use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;

use deskhand_config::{Home, HomeError};
use serde::Serialize;

use crate::fail::Fail;
use crate::lang::Lang;
use crate::paint::Paint;
use crate::visible;

/// How to talk, and where the home is.
#[derive(Debug)]
pub(crate) struct Ctx {
    /// One JSON document on standard output and nothing else there.
    pub(crate) json: bool,
    /// The language of words for people.
    pub(crate) lang: Lang,
    /// Colour on standard output.
    pub(crate) out: Paint,
    /// Colour on standard error.
    pub(crate) err: Paint,
    home: Option<OsString>,
}

impl Ctx {
    /// From the global flags and the environment.
    pub(crate) fn new(json: bool, home: Option<OsString>) -> Self {
        Self {
            json,
            lang: Lang::from_env(|name| std::env::var(name).ok()),
            out: Paint::for_stream(&io::stdout()),
            err: Paint::for_stream(&io::stderr()),
            home: home.filter(|home| !home.is_empty()),
        }
    }

    /// The home folder: `--home`, else `DESKHAND_HOME`, else `~/.deskhand`.
    pub(crate) fn home(&self) -> Result<Home, Fail> {
        match &self.home {
            Some(root) if PathBuf::from(root).is_absolute() => Ok(Home::at(root)),
            Some(root) => Err(HomeError::Relative(root.into()).into()),
            None => Ok(Home::from_env()?),
        }
    }

    /// Prints one JSON document; spread out when a person looks at it.
    pub(crate) fn json(&self, value: &impl Serialize) -> Result<(), Fail> {
        let text = if io::stdout().is_terminal() {
            serde_json::to_string_pretty(value)
        } else {
            serde_json::to_string(value)
        };
        let text = text.map_err(io::Error::from)?;
        self.line(&text)
    }

    /// Prints text and a newline on standard output. On a terminal nothing in it can act.
    pub(crate) fn line(&self, text: &str) -> Result<(), Fail> {
        let mut out = io::stdout().lock();
        let text = for_stream(&out, text);
        out.write_all(text.as_bytes())?;
        if !text.ends_with('\n') {
            out.write_all(b"\n")?;
        }
        Ok(out.flush()?)
    }

    /// Tells people something that is not the result.
    pub(crate) fn note(&self, text: &str) {
        let mut err = io::stderr().lock();
        let text = for_stream(&err, text);
        let end = if text.ends_with('\n') { "" } else { "\n" };
        // One write, so that the words of two processes do not mix.
        let _ = err.write_all(format!("{text}{end}").as_bytes());
    }
}

/// Text as a stream may have it: exact in a pipe or a file, harmless on a terminal.
pub(crate) fn for_stream<'a>(stream: &impl IsTerminal, text: &'a str) -> Cow<'a, str> {
    if stream.is_terminal() { visible::clean_painted(text) } else { Cow::Borrowed(text) }
}
