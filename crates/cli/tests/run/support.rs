//! Runs the built program in a world of its own.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
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
    program: PathBuf,
    /// The folder of a copy of the program, when it has one of its own.
    apart: Option<TempDir>,
}

impl World {
    pub(crate) fn new() -> Self {
        Self {
            home: tempfile::tempdir().unwrap(),
            program: env!("CARGO_BIN_EXE_deskhand").into(),
            apart: None,
        }
    }

    /// With a copy of the program in a folder of its own, where there is no host beside it.
    pub(crate) fn apart() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("deskhand");
        let built = Path::new(env!("CARGO_BIN_EXE_deskhand"));
        // By this way no other test can have the copy open for writing when it is run.
        if std::fs::hard_link(built, &program).is_err() {
            assert!(Command::new("cp").arg(built).arg(&program).status().unwrap().success());
        }
        Self { program, apart: Some(folder), ..Self::new() }
    }

    /// Puts a script beside the program, as its host.
    pub(crate) fn put_host(&self, script: &str) {
        put_script(&self.apart.as_ref().unwrap().path().join("deskhand-host"), script);
    }

    /// `deskhand` with nothing of this process's environment but PATH.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command
            .args(args)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("DESKHAND_HOME", self.home.path())
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

/// A program of a few lines.
pub(crate) fn put_script(path: &Path, script: &str) {
    std::fs::write(path, format!("#!/bin/sh\n{script}\n")).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// Runs a command on a terminal of its own and returns what the terminal gets.
pub(crate) fn on_a_terminal(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let line: Vec<String> =
        words.map(|word| format!("'{}'", word.to_str().unwrap().replace('\'', r"'\''"))).collect();
    let mut script = Command::new("script");
    script.args(["-qec", &line.join(" "), "/dev/null"]).env_clear().env("TERM", "xterm").stdin(Stdio::null());
    for (key, value) in command.get_envs() {
        script.env(key, value.unwrap());
    }
    String::from_utf8(script.output().unwrap().stdout).unwrap()
}

pub(crate) fn run(command: &mut Command) -> Ran {
    let done = command.output().unwrap();
    Ran {
        code: done.status.code().unwrap(),
        out: String::from_utf8(done.stdout).unwrap(),
        err: String::from_utf8(done.stderr).unwrap(),
    }
}
