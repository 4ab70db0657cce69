//! The others: a Python process that does one thing per line and times itself, or a program that is
//! timed from start to exit.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::Bench;

/// How long one sample of a peer may take.
const SAMPLE: Duration = Duration::from_secs(120);

/// Which Python a peer needs.
#[derive(Clone, Copy)]
pub(crate) enum Python {
    /// The one in `target/bench-venv`, with mss, Pillow and pynput.
    Venv,
    /// The system's own, with pyatspi.
    System,
}

/// A peer that stays up. Each line it is told is one sample; it answers `{"ms": …}`.
pub(crate) struct Peer {
    child: Child,
    stdin: ChildStdin,
    answers: Receiver<String>,
}

impl Peer {
    /// Starts `bench/peers/<script>`; `None` when it or what it needs is not there.
    pub(crate) fn start(bench: &Bench, python: Python, script: &str) -> Option<Self> {
        let python = match python {
            Python::Venv => bench.root.join("target/bench-venv/bin/python"),
            Python::System => PathBuf::from("/usr/bin/python3"),
        };
        let mut child = bench
            .command(python)
            .arg(bench.root.join("bench/peers").join(script))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .ok()?;
        let (stdin, stdout) = (child.stdin.take()?, child.stdout.take()?);
        let (tell, answers) = sync_channel(16);
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                if tell.send(line).is_err() {
                    break;
                }
            }
        });
        let mut peer = Self { child, stdin, answers };
        // It says "ready" when everything it needs could be imported.
        peer.ask("").is_some().then_some(peer)
    }

    /// One sample; `None` when the peer failed or took too long.
    pub(crate) fn ask(&mut self, line: &str) -> Option<Value> {
        writeln!(self.stdin, "{line}").and_then(|()| self.stdin.flush()).ok()?;
        serde_json::from_str(&self.answers.recv_timeout(SAMPLE).ok()?).ok()
    }

    /// The time of one sample.
    pub(crate) fn time(&mut self, line: &str) -> Option<f64> {
        self.ask(line)?["ms"].as_f64()
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Milliseconds of a thing that must succeed.
pub(crate) fn timed<T, E>(work: impl FnOnce() -> Result<T, E>) -> Result<f64, E> {
    let began = Instant::now();
    work()?;
    Ok(began.elapsed().as_secs_f64() * 1e3)
}

/// A program from start to exit; `None` when it is missing or fails.
pub(crate) fn program(command: &mut Command) -> Option<f64> {
    let began = Instant::now();
    let status = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status().ok()?;
    status.success().then(|| began.elapsed().as_secs_f64() * 1e3)
}

/// The system's own program of that name, past wrappers in `/usr/local`.
pub(crate) fn system(name: &str) -> PathBuf {
    let own = Path::new("/usr/bin").join(name);
    if own.exists() { own } else { PathBuf::from(name) }
}
