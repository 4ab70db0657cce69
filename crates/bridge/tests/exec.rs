//! A process that becomes another program while it is connected. The test program runs copies of
//! itself: `allowed` is on the list, `evil` is not.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should say where")]

mod common;

use std::ffi::OsString;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::Ordering;
use std::time::Duration;

use common::{Desk, HANG, HELLO, call_line, until};
use deskhand_bridge::{Check, Limits, callers};
use rustix::io::FdFlags;
use serde_json::{Value, json};

/// What a child is told to do, step by step: `connect`, `send:TEXT`, `hello`, `exec:PROGRAM`,
/// `wait`. The connection is its standard input after the first `exec`.
const STEPS: &str = "BRIDGE_TEST_STEPS";
const SOCKET: &str = "BRIDGE_TEST_SOCKET";

/// Runs in a child only.
#[test]
fn child_takes_steps() {
    let (Ok(steps), Some(socket)) = (std::env::var(STEPS), std::env::var_os(SOCKET)) else { return };
    let steps: Vec<String> = serde_json::from_str(&steps).unwrap();
    let mut stream: Option<UnixStream> = None;
    // Handed over by the program this process was before.
    if std::env::var_os("BRIDGE_TEST_INHERITED").is_some() {
        let inherited = rustix::io::dup(std::io::stdin()).unwrap();
        rustix::io::fcntl_setfd(&inherited, FdFlags::CLOEXEC).unwrap();
        stream = Some(UnixStream::from(inherited));
    }
    for (at, step) in steps.iter().enumerate() {
        let (what, rest) = step.split_once(':').unwrap_or((step, ""));
        match what {
            "connect" => stream = Some(UnixStream::connect(Path::new(&socket)).unwrap()),
            "send" => drop(stream.as_ref().unwrap().write_all(rest.as_bytes())),
            "hello" => {
                let mut line = String::new();
                let mut reader = BufReader::new(stream.as_ref().unwrap());
                reader.read_line(&mut line).unwrap();
                let first: Value = serde_json::from_str(&line).unwrap();
                let hello = HELLO.replace('@', first["params"]["challenge"].as_str().unwrap());
                stream.as_ref().unwrap().write_all(format!("{hello}\n").as_bytes()).unwrap();
                line.clear();
                reader.read_line(&mut line).unwrap();
                assert!(line.contains("hostPid"), "{line}");
            }
            "exec" => {
                let error = command(Path::new(rest), &socket, &steps[at + 1..])
                    .env("BRIDGE_TEST_INHERITED", "1")
                    .stdin(Stdio::from(std::os::fd::OwnedFd::from(stream.unwrap())))
                    .exec();
                panic!("{error}");
            }
            // Until it is killed.
            "wait" => std::thread::sleep(HANG),
            other => panic!("{other}"),
        }
    }
}

fn command(program: &Path, socket: &OsString, steps: &[String]) -> Command {
    let mut command = Command::new(program);
    command
        .args(["--exact", "child_takes_steps", "--nocapture"])
        .env(STEPS, json!(steps).to_string())
        .env(SOCKET, socket)
        .stdin(Stdio::null())
        .stdout(Stdio::null());
    command
}

fn copy(desk: &Desk, name: &str) -> PathBuf {
    let copy = desk.folder.path().canonicalize().unwrap().join(name);
    std::fs::copy(std::env::current_exe().unwrap(), &copy).unwrap();
    copy
}

fn start(desk: &Desk, program: &Path, steps: &[String]) -> Child {
    command(program, &desk.socket().into_os_string(), steps).spawn().unwrap()
}

fn end(mut child: Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}

fn ran(desk: &Desk) -> bool {
    desk.host.calls.load(Ordering::SeqCst) > 0
}

fn call() -> String {
    call_line(2, "echo", &json!("evil")) + "\n"
}

/// It connects and writes, becomes an allowed program, and only then is looked at.
#[test]
fn what_was_written_before_the_examination_is_void() {
    let without = HELLO.replace(r#","challenge":"@""#, "");
    let guessed = HELLO.replace('@', &"0".repeat(32));
    for (hello, told) in [(without, None), (guessed, Some(Check::Challenge))] {
        let (mut desk, endpoint) = Desk::bound();
        let (evil, allowed) = (copy(&desk, "evil"), copy(&desk, "allowed"));
        callers::allow(&desk.callers(), &allowed, None).unwrap();
        let steps = [
            "connect".to_owned(),
            format!("send:{hello}\n{}", call()),
            format!("exec:{}", allowed.display()),
            "wait".to_owned(),
        ];
        let child = start(&desk, &evil, &steps);
        let exe = format!("/proc/{}/exe", child.id());
        until("it is the allowed program", || std::fs::read_link(&exe).is_ok_and(|exe| exe == allowed));
        let limits = Limits { hello: Duration::from_millis(300), ..Limits::default() };
        desk.start(endpoint, limits);
        until("it came in", || desk.clients() == 1 || !desk.host.checks().is_empty());
        until("it was closed", || desk.clients() == 0 || ran(&desk));
        assert!(!ran(&desk), "the call ran");
        assert_eq!(desk.host.checks(), told.into_iter().collect::<Vec<_>>());
        end(child);
    }
}

/// It was allowed, and hands its connection to another program, which may even start the allowed
/// one again at once.
#[test]
fn a_process_that_becomes_another_program_is_refused() {
    for back in [false, true] {
        let desk = Desk::strict(Limits::default());
        let (evil, allowed) = (copy(&desk, "evil"), copy(&desk, "allowed"));
        callers::allow(&desk.callers(), &allowed, None).unwrap();
        let mut steps = vec![
            "connect".to_owned(),
            "hello".to_owned(),
            format!("exec:{}", evil.display()),
            format!("send:{}", call()),
        ];
        if back {
            steps.push(format!("exec:{}", allowed.display()));
        }
        steps.push("wait".to_owned());
        let child = start(&desk, &allowed, &steps);
        until("it was refused", || !desk.host.checks().is_empty() || ran(&desk));
        assert!(!ran(&desk), "the call ran");
        let found = desk.host.checks();
        let want: &[Check] = if back { &[Check::Path, Check::Process] } else { &[Check::Path] };
        assert!(found.len() == 1 && want.contains(&found[0]), "{found:?}");
        until("it was closed", || desk.clients() == 0);
        end(child);
    }
}

/// The very same program again: the file is the same, the process's memory is not.
#[test]
fn a_process_that_starts_its_own_program_again_must_connect_again() {
    let desk = Desk::strict(Limits::default());
    let allowed = copy(&desk, "allowed");
    callers::allow(&desk.callers(), &allowed, None).unwrap();
    let steps = [
        "connect".to_owned(),
        "hello".to_owned(),
        format!("exec:{}", allowed.display()),
        format!("send:{}", call()),
        "wait".to_owned(),
    ];
    let child = start(&desk, &allowed, &steps);
    until("it was refused", || !desk.host.checks().is_empty() || ran(&desk));
    assert!(!ran(&desk), "the call ran");
    assert_eq!(desk.host.checks(), [Check::Process]);
    end(child);
}
