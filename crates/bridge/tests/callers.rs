//! Who may come in. The test program runs itself again as the caller.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should say where")]

mod common;

use std::io::{Read, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use common::{Desk, HANG, HELLO, Raw};
use deskhand_bridge::{Check, Client, Limits, callers};
use deskhand_protocol::{ErrorCode, method};
use serde_json::Value;

/// Runs in a child only: connects and prints the code of the answer, or "ok".
#[test]
fn child_asks_for_status() {
    let Some(socket) = std::env::var_os("BRIDGE_TEST_SOCKET") else { return };
    let said = match Client::connect(Path::new(&socket), "child", "0")
        .and_then(|client| client.request(method::STATUS, &Value::Null, HANG))
    {
        Ok(_) => "ok".to_owned(),
        Err(error) => format!("{} {}", error.code, error.details.get("check").unwrap_or(&Value::Null)),
    };
    println!("\nsaid: {said}");
}

fn ask(mut command: Command, socket: &Path) -> String {
    let out = command
        .args(["--exact", "child_asks_for_status", "--nocapture"])
        .env("BRIDGE_TEST_SOCKET", socket)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let text = String::from_utf8(out.stdout).unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix("said: "));
    line.unwrap_or_else(|| panic!("{text} {}", String::from_utf8_lossy(&out.stderr))).to_owned()
}

fn copy_of_self(folder: &Path) -> PathBuf {
    let copy = folder.canonicalize().unwrap().join("caller");
    std::fs::copy(std::env::current_exe().unwrap(), &copy).unwrap();
    copy
}

#[test]
fn a_program_must_be_on_the_list_and_unchanged() {
    let desk = Desk::strict(Limits { refusal_every: Duration::ZERO, ..Limits::default() });
    let copy = copy_of_self(desk.folder.path());
    let ask = || ask(Command::new(&copy), &desk.socket());
    assert_eq!(ask(), "DESKTOP_CALLER_REFUSED \"path\"");
    callers::allow(&desk.callers(), &copy, Some("for this test")).unwrap();
    assert_eq!(ask(), "ok");
    // One byte more at the end: the same program to the loader, another one to us.
    let mut bytes = std::fs::read(&copy).unwrap();
    bytes.push(0);
    std::fs::write(&copy, bytes).unwrap();
    assert_eq!(ask(), "DESKTOP_CALLER_REFUSED \"hash\"");
    callers::remove(&desk.callers(), &copy).unwrap();
    assert_eq!(ask(), "DESKTOP_CALLER_REFUSED \"path\"");
    assert_eq!(desk.host.checks(), [Check::Path, Check::Hash, Check::Path]);
    let refusals = desk.host.refusals.lock().unwrap();
    assert_eq!(refusals[0].peer.exe.as_ref(), Some(&copy));
    assert!(refusals[1].peer.sha256.is_some() && refusals[1].peer.pid > 0);
}

#[test]
fn a_script_of_an_interpreter_that_is_not_listed_is_refused() {
    let desk = Desk::strict(Limits::default());
    let script = "import socket,sys\ns=socket.socket(socket.AF_UNIX)\ns.connect(sys.argv[1])\n\
                  try: s.sendall(sys.argv[2].encode()+b'\\n')\n\
                  except BrokenPipeError: pass\nprint(s.makefile().readline())";
    let Ok(out) = Command::new("python3").args(["-c", script]).arg(desk.socket()).arg(HELLO).output() else {
        eprintln!("skipped: no python3");
        return;
    };
    let text = String::from_utf8_lossy(&out.stdout);
    assert!(text.contains("DESKTOP_CALLER_REFUSED") && text.contains("callers allow"), "{text}");
    assert_eq!(desk.host.checks(), [Check::Path]);
}

#[test]
fn another_user_is_refused_even_if_the_folder_were_open() {
    if !rustix::process::geteuid().is_root() {
        eprintln!("skipped: only root can run a child as somebody else");
        return;
    }
    let desk = Desk::new(Limits::default());
    let copy = copy_of_self(desk.folder.path());
    callers::allow(&desk.callers(), &copy, None).unwrap();
    let as_nobody = || {
        let mut command = Command::new("setpriv");
        command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]).arg(&copy).current_dir("/");
        ask(command, &desk.socket())
    };
    let open =
        |path: &Path, mode| std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    // The program must be reachable; the socket's own folder is still closed.
    open(desk.folder.path(), 0o755);
    open(&copy, 0o755);
    assert_eq!(as_nobody(), "DESKTOP_PERMISSION_MISSING null");
    assert_eq!(desk.host.checks(), []);
    open(&desk.folder.path().join("run"), 0o755);
    open(&desk.socket(), 0o666);
    // The client itself will not talk to a socket of somebody else …
    assert_eq!(as_nobody(), "DESKTOP_PERMISSION_MISSING null");
    common::until("the host saw it too", || desk.host.checks() == [Check::Uid]);
    // … and one that does is refused by the host.
    let script = "import socket,sys\ns=socket.socket(socket.AF_UNIX)\ns.connect(sys.argv[1])\nprint(s.makefile().readline())";
    let out = Command::new("setpriv")
        .args(["--reuid=65534", "--regid=65534", "--clear-groups", "/usr/bin/python3", "-c", script])
        .arg(desk.socket())
        .current_dir("/")
        .output();
    if let Ok(out) = out
        && !out.stdout.is_empty()
    {
        let text = String::from_utf8_lossy(&out.stdout);
        assert!(text.contains("CALLER_REFUSED") && text.contains("uid 65534"), "{text}");
    }
}

#[test]
fn a_connection_handed_to_another_process_is_closed() {
    let desk = Desk::new(Limits::default());
    let mut raw = Raw::greeted(&desk.socket());
    let theirs = raw.socket.as_fd().try_clone_to_owned().unwrap();
    let line = r#"{"jsonrpc":"2.0","id":1,"method":"status"}"#;
    let done = Command::new("sh").args(["-c", "echo \"$0\""]).arg(line).stdout(Stdio::from(theirs)).status();
    assert!(done.unwrap().success());
    let answer = raw.answer().unwrap();
    assert_eq!(answer["error"]["data"]["details"]["check"], "sender", "{answer}");
    assert_eq!(raw.answer(), None);
    assert_eq!(desk.host.checks(), [Check::Sender]);
}

#[test]
fn no_host_and_a_stale_socket_are_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("host.sock");
    let reason = || {
        let error = Client::connect(&socket, "test", "0").err().unwrap();
        assert_eq!(error.code, ErrorCode::HostNotRunning);
        assert!(error.hint.contains("deskhand up"), "{error:?}");
        error.details["reason"].clone()
    };
    assert_eq!(reason(), "missing");
    drop(std::os::unix::net::UnixListener::bind(&socket).unwrap());
    assert_eq!(reason(), "stale");
}

#[test]
fn a_host_that_dies_is_noticed_by_the_client() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("host.sock");
    let listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    let host = std::thread::spawn(move || {
        let (mut stream, _): (UnixStream, _) = listener.accept().unwrap();
        let first = r#"{"jsonrpc":"2.0","method":"challenge","params":{"challenge":"a"}}"#;
        writeln!(stream, "{first}").unwrap();
        let mut some = [0; 10];
        stream.read_exact(&mut some).unwrap();
    });
    let client = Client::connect(&socket, "test", "0").unwrap();
    let error = client.request(method::STATUS, &Value::Null, HANG).unwrap_err();
    assert_eq!((error.code, &error.details["reason"]), (ErrorCode::HostNotRunning, &"closed".into()));
    host.join().unwrap();
}
