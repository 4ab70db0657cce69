//! Who may come in: another uid, an executable that is not on the list, replays, late requests.

// Test code: a panic is how it says no.
#![allow(clippy::unwrap_used, clippy::needless_pass_by_value)]

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::process::Command;
use std::time::Duration;

use deskhand_e2e::LiveHost;
use serde_json::{Value, json};

const KNOCK: &str = r#"
import json, socket, sys
s = socket.socket(socket.AF_UNIX)
try:
    s.connect(sys.argv[1])
except OSError as e:
    print("CANNOT_CONNECT", e); sys.exit()
s.settimeout(5)
data = b''
try:
    first = s.makefile().readline()
    data += first.encode()
    word = json.loads(first).get("params", {}).get("challenge", "")
    hello = {"versions": [1], "client": "knock", "clientVersion": "0", "challenge": word}
    s.sendall(json.dumps({"jsonrpc": "2.0", "id": 0, "method": "hello", "params": hello}).encode() + b'\n')
    s.sendall(b'{"jsonrpc":"2.0","id":1,"method":"status","params":{}}\n')
except OSError: pass
try:
    while True:
        part = s.recv(65536)
        if not part: break
        data += part
        if data.count(b'\n') >= 3: break
except OSError: pass
print(data.decode())
"#;

#[test]
fn an_executable_that_is_not_on_the_list_is_refused_and_logged() {
    let live = LiveHost::start();
    let out = Command::new("/usr/bin/python3").args(["-c", KNOCK]).arg(live.home.socket()).output().unwrap();
    let words = String::from_utf8_lossy(&out.stdout);
    assert!(words.contains("DESKTOP_CALLER_REFUSED"), "{words}");
    assert!(!words.contains("uptimeMs"), "it was served: {words}");
    let log = std::fs::read_to_string(live.home.audit_file()).unwrap();
    assert!(log.contains("\"refused\"") && log.contains("python3"), "{log}");
}

#[test]
fn another_uid_is_refused() {
    if !rustix::process::geteuid().is_root() {
        eprintln!("skipped: only root can become another user");
        return;
    }
    let live = LiveHost::start();
    // Even when the folder and the socket are opened up by mistake, the kernel's word counts.
    let nobody = |socket: &std::path::Path| {
        let out = Command::new("setpriv")
            .args(["--reuid=65534", "--regid=65534", "--clear-groups", "/usr/bin/python3", "-c", KNOCK])
            .arg(socket)
            .output()
            .unwrap();
        String::from_utf8_lossy(&out.stdout).into_owned()
    };
    assert!(nobody(&live.home.socket()).contains("CANNOT_CONNECT"), "the folder must be closed to others");
    use std::os::unix::fs::PermissionsExt;
    let open = |path: &std::path::Path| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o777)).unwrap()
    };
    open(live.dir());
    open(live.home.root());
    open(&live.home.run_dir());
    open(&live.home.socket());
    let words = nobody(&live.home.socket());
    assert!(words.contains("DESKTOP_CALLER_REFUSED"), "{words}");
    let log = std::fs::read_to_string(live.home.audit_file()).unwrap();
    assert!(log.contains("\"refused\"") && log.contains("65534"), "{log}");
}

/// Speaks to the bridge by hand.
struct Wire(BufReader<UnixStream>);

impl Wire {
    fn open(live: &LiveHost) -> Self {
        let (mut wire, challenge) = Self::challenged(live);
        let hello = json!({"versions": [1], "client": "wire", "clientVersion": "0", "challenge": challenge});
        let answer = wire.ask("hello", hello);
        assert_eq!(answer["result"]["version"], 1, "{answer}");
        wire
    }

    /// Connected, with the challenge the host sent, and nothing said yet.
    fn challenged(live: &LiveHost) -> (Self, Value) {
        let socket = UnixStream::connect(live.home.socket()).unwrap();
        socket.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let mut wire = Self(BufReader::new(socket));
        let first = wire.answer();
        assert_eq!(first["method"], "challenge", "{first}");
        (wire, first["params"]["challenge"].clone())
    }

    fn ask(&mut self, method: &str, params: Value) -> Value {
        let line = format!("{}\n", json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}));
        self.0.get_mut().write_all(line.as_bytes()).unwrap();
        self.answer()
    }

    fn answer(&mut self) -> Value {
        let mut answer = String::new();
        self.0.read_line(&mut answer).unwrap();
        serde_json::from_str(&answer).unwrap_or_else(|e| panic!("{e}: {answer}"))
    }
}

#[test]
fn a_replayed_nonce_and_a_late_request_are_refused_and_logged() {
    let live = LiveHost::start();
    let mut wire = Wire::open(&live);
    let now = u64::try_from(
        std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_millis(),
    )
    .unwrap();
    let call = |nonce: &str, expires: u64| json!({"nonce": nonce, "expiresAt": expires, "tool": "system_info", "args": {}});
    let first = wire.ask("call", call("0123456789abcdef-1", now + 60_000));
    assert!(first["result"]["result"]["os"].is_string(), "{first}");
    let again = wire.ask("call", call("0123456789abcdef-1", now + 60_000));
    assert_eq!(again["error"]["data"]["code"], "DESKTOP_NONCE_REPLAYED", "{again}");
    let mut other = Wire::open(&live);
    let elsewhere = other.ask("call", call("0123456789abcdef-1", now + 60_000));
    assert_eq!(elsewhere["error"]["data"]["code"], "DESKTOP_NONCE_REPLAYED", "{elsewhere}");
    for expires in [now - 1, now + 3_600_000] {
        let late = wire.ask("call", call("0123456789abcdef-2", expires));
        assert_eq!(late["error"]["data"]["code"], "DESKTOP_REQUEST_EXPIRED", "{late}");
    }
    let log = std::fs::read_to_string(live.home.audit_file()).unwrap();
    assert!(log.contains("DESKTOP_NONCE_REPLAYED") && log.contains("DESKTOP_REQUEST_EXPIRED"), "{log}");
}

#[test]
fn before_hello_nothing_is_answered_but_an_error() {
    let live = LiveHost::start();
    let (mut wire, challenge) = Wire::challenged(&live);
    let answer = wire.ask("status", json!({}));
    assert_eq!(answer["error"]["data"]["code"], "DESKTOP_BAD_REQUEST", "{answer}");
    let hello = |versions: Value, challenge: &Value| json!({"versions": versions, "client": "wire", "clientVersion": "0", "challenge": challenge});
    let answer = wire.ask("hello", hello(json!([999]), &challenge));
    assert!(answer["error"]["data"]["hint"].as_str().unwrap().contains("same release"), "{answer}");
    // A hello that was written before the host looked at its writer cannot know the challenge.
    let (mut early, _) = Wire::challenged(&live);
    let answer = early.ask("hello", hello(json!([1]), &json!("0".repeat(32))));
    assert_eq!(answer["error"]["data"]["code"], "DESKTOP_CALLER_REFUSED", "{answer}");
    assert_eq!(answer["error"]["data"]["details"]["check"], "challenge", "{answer}");
}
