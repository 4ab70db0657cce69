//! Runs the built program in a world of its own.

use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// What a run left behind.
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Ran {
    /// Standard output as the one JSON document it must be.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.out)
            .unwrap_or_else(|error| panic!("{error}: {:?} {:?}", self.out, self.err))
    }
}

/// An empty home.
pub(crate) struct World {
    pub(crate) home: TempDir,
}

impl World {
    pub(crate) fn new() -> Self {
        Self { home: tempfile::tempdir().unwrap() }
    }

    /// `deskhand` with nothing of this process's environment but PATH.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_deskhand"));
        command
            .args(args)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("DESKHAND_HOME", self.home.path())
            .env("DESKHAND_HOST_BIN", "/nonexistent/deskhand-host")
            .stdin(Stdio::null());
        command
    }

    pub(crate) fn run(&self, args: &[&str]) -> Ran {
        run(&mut self.command(args))
    }

    pub(crate) fn path(&self) -> &Path {
        self.home.path()
    }

    /// A text with the home's path taken out.
    pub(crate) fn plain(&self, text: &str) -> String {
        text.replace(&*self.path().to_string_lossy(), "HOME")
    }
}

pub(crate) fn run(command: &mut Command) -> Ran {
    let done = command.output().unwrap();
    Ran {
        code: done.status.code().unwrap(),
        out: String::from_utf8(done.stdout).unwrap(),
        err: String::from_utf8(done.stderr).unwrap(),
    }
}
