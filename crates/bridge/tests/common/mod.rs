//! A server with a small service, and raw connections to it.
#![allow(dead_code, unreachable_pub, reason = "each test file uses its own part")]

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use deskhand_bridge::{
    Allowlist, CallContext, Check, Client, Endpoint, Limits, Refusal, Reply, Server, Service, callers,
    unknown_method,
};
use deskhand_protocol::{CallParams, Error, ErrorCode};
use serde_json::{Value, json};

/// Only to notice a hang; nothing waits this long when all is well.
pub const HANG: Duration = Duration::from_secs(60);

/// Echoes, blocks, answers at length, and keeps what it was told.
#[derive(Default)]
pub struct Host {
    pub refusals: Mutex<Vec<Refusal>>,
    pub notices: Mutex<Vec<String>>,
    pub calls: AtomicUsize,
    pub gone: AtomicUsize,
    pub blocked: AtomicUsize,
    open: Mutex<bool>,
    changed: Condvar,
}

impl Host {
    /// Lets every blocked call end.
    pub fn release(&self) {
        *self.open.lock().unwrap() = true;
        self.changed.notify_all();
    }

    pub fn noticed(&self, words: &str) -> bool {
        self.notices.lock().unwrap().iter().any(|text| text.contains(words))
    }

    pub fn checks(&self) -> Vec<Check> {
        self.refusals.lock().unwrap().iter().map(|refusal| refusal.check).collect()
    }

    fn block(self: &Host, context: &CallContext) -> Result<Reply, Error> {
        self.blocked.fetch_add(1, Ordering::SeqCst);
        let deadline = Instant::now() + HANG;
        let mut open = self.open.lock().unwrap();
        while !*open && !context.gone.is_gone() && Instant::now() < deadline {
            open = self.changed.wait_timeout(open, Duration::from_millis(5)).unwrap().0;
        }
        self.blocked.fetch_sub(1, Ordering::SeqCst);
        if context.gone.is_gone() {
            self.gone.fetch_add(1, Ordering::SeqCst);
            return Err(Error::new(ErrorCode::Aborted, "nobody waits"));
        }
        Ok(json!("released").into())
    }
}

impl Service for Host {
    fn call(&self, params: CallParams, context: &CallContext) -> Result<Reply, Error> {
        self.calls.fetch_add(1, Ordering::SeqCst);
        match params.tool.as_str() {
            "echo" => Reply::of(&params.args),
            "block" => self.block(context),
            "long" => Ok(Value::from("x".repeat(params.args["bytes"].as_u64().unwrap() as usize)).into()),
            "panic" => std::panic::resume_unwind(Box::new("on purpose")),
            tool => Err(Error::new(ErrorCode::UnknownTool, tool)),
        }
    }

    fn handle(&self, method: &str, params: Value, context: &CallContext) -> Result<Reply, Error> {
        match method {
            "status" => Ok(json!({"pid": context.peer.pid, "params": params}).into()),
            "stop" => {
                self.release();
                Ok(json!("stopped").into())
            }
            other => Err(unknown_method(other)),
        }
    }

    fn refused(&self, refusal: &Refusal) {
        self.refusals.lock().unwrap().push(refusal.clone());
    }

    fn notice(&self, text: &str) {
        self.notices.lock().unwrap().push(text.to_owned());
    }
}

pub struct Desk {
    pub folder: tempfile::TempDir,
    pub host: Arc<Host>,
    pub server: Option<Server>,
}

impl Desk {
    /// A server that allows this test program.
    pub fn new(limits: Limits) -> Self {
        let desk = Self::strict(limits);
        callers::allow(&desk.callers(), &std::env::current_exe().unwrap(), None).unwrap();
        desk
    }

    /// A server that allows nobody.
    pub fn strict(limits: Limits) -> Self {
        let (mut desk, endpoint) = Self::bound();
        desk.start(endpoint, limits);
        desk
    }

    /// A socket that listens, and nobody who serves it yet.
    pub fn bound() -> (Self, Endpoint) {
        let folder = tempfile::tempdir().unwrap();
        let endpoint =
            Endpoint::bind(&folder.path().join("run/host.sock"), &folder.path().join("run/host.lock"));
        (Self { folder, host: Arc::new(Host::default()), server: None }, endpoint.unwrap())
    }

    pub fn start(&mut self, endpoint: Endpoint, limits: Limits) {
        let list = Allowlist::with_programs_in(self.callers(), None);
        let service: Arc<dyn Service> = Arc::clone(&self.host) as _;
        self.server = Some(Server::start(endpoint, service, list, limits).unwrap());
    }

    pub fn socket(&self) -> PathBuf {
        self.folder.path().join("run/host.sock")
    }

    pub fn callers(&self) -> PathBuf {
        self.folder.path().join("callers.json")
    }

    pub fn client(&self) -> Client {
        Client::connect(&self.socket(), "test", "0").unwrap()
    }

    pub fn raw(&self) -> Raw {
        Raw::connect(&self.socket())
    }

    pub fn clients(&self) -> usize {
        self.server.as_ref().unwrap().clients()
    }
}

/// Bytes in, lines out.
pub struct Raw {
    pub socket: UnixStream,
    reader: BufReader<UnixStream>,
    challenge: String,
}

/// [`Raw::line`] puts the challenge in the place of `@`.
pub const HELLO: &str = r#"{"jsonrpc":"2.0","id":"h","method":"hello","params":{"versions":[1],"client":"raw","clientVersion":"0","challenge":"@"}}"#;

impl Raw {
    pub fn connect(path: &Path) -> Self {
        let socket = UnixStream::connect(path).unwrap();
        socket.set_read_timeout(Some(HANG)).unwrap();
        let reader = BufReader::new(socket.try_clone().unwrap());
        let mut raw = Self { reader, socket, challenge: String::new() };
        let first = raw.answer().unwrap();
        assert_eq!((&first["method"], first.get("id")), (&json!("challenge"), None), "{first}");
        raw.challenge = first["params"]["challenge"].as_str().unwrap().to_owned();
        raw
    }

    pub fn greeted(path: &Path) -> Self {
        let mut raw = Self::connect(path);
        raw.line(HELLO);
        assert_eq!(raw.answer().unwrap()["result"]["version"], 1);
        raw
    }

    pub fn send(&mut self, bytes: &[u8]) {
        self.socket.write_all(bytes).unwrap();
    }

    pub fn line(&mut self, text: &str) {
        self.send(format!("{}\n", text.replace("\"@\"", &json!(self.challenge).to_string())).as_bytes());
    }

    /// The next answer; `None` at the end of the connection.
    pub fn answer(&mut self) -> Option<Value> {
        let mut line = String::new();
        match self.reader.read_line(&mut line) {
            Ok(0) => None,
            Ok(_) => Some(serde_json::from_str(&line).unwrap()),
            Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => None,
            Err(error) => panic!("{error}"),
        }
    }

    /// The code of the next answer.
    pub fn code(&mut self) -> String {
        let answer = self.answer().expect("an answer");
        answer["error"]["data"]["code"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
    }
}

pub fn call_line(id: u64, tool: &str, args: &Value) -> String {
    let now = deskhand_bridge::system_clock()();
    let nonce = format!("test-nonce-{id:010}-{}", fastrand::u64(..));
    json!({"jsonrpc": "2.0", "id": id, "method": "call",
           "params": {"nonce": nonce, "expiresAt": now + 60_000, "tool": tool, "args": args}})
    .to_string()
}

pub fn until(what: &str, mut done: impl FnMut() -> bool) {
    let deadline = Instant::now() + HANG;
    while !done() {
        assert!(Instant::now() < deadline, "did not happen: {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}
