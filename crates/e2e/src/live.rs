//! A desk with a host on it.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use deskhand_bridge::{CallRequest, Client, callers};
use deskhand_config::Home;
use deskhand_desk::{Desk, Options};
use deskhand_protocol::{CallOptions, ErrorCode, Outcome, Route};
use serde_json::{Value, json};

/// What a call may take; only there to end a test that hangs.
const PATIENCE: Duration = Duration::from_secs(90);

/// How the desk should be.
#[derive(Clone, Debug)]
pub struct LiveOptions {
    /// Pixels of the first monitor.
    pub size: (u32, u32),
    /// A second one to the right.
    pub second: Option<(u32, u32)>,
    /// With a window manager.
    pub window_manager: bool,
    /// With an accessibility bus.
    pub accessibility: bool,
    /// More environment for the host.
    pub env: Vec<(String, String)>,
}

impl Default for LiveOptions {
    fn default() -> Self {
        Self { size: (1280, 900), second: None, window_manager: true, accessibility: true, env: Vec::new() }
    }
}

/// A desk, a host on it, and a client.
pub struct LiveHost {
    /// The client.
    pub client: Client,
    /// The host's home.
    pub home: Home,
    /// The desk.
    pub desk: Desk,
    /// The host's process.
    pub host: Child,
    dir: tempfile::TempDir,
    apps: std::sync::Mutex<Vec<Child>>,
}

/// A finished program beside the test's own.
///
/// # Panics
/// When it was not built.
#[must_use]
pub fn program(name: &str) -> PathBuf {
    let own = std::env::current_exe().expect("the test knows its own path");
    let found = own.ancestors().skip(1).take(3).map(|dir| dir.join(name)).find(|p| p.is_file());
    found.unwrap_or_else(|| panic!("{name} is not built; run `cargo build --workspace --bins` first"))
}

/// Waits until `ready` gives something.
///
/// # Panics
/// When it does not within `time`.
pub fn wait_for<T>(what: &str, time: Duration, mut ready: impl FnMut() -> Option<T>) -> T {
    let until = Instant::now() + time;
    loop {
        if let Some(value) = ready() {
            return value;
        }
        assert!(Instant::now() < until, "waited {time:?} for {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

impl LiveHost {
    /// With the usual desk.
    #[must_use]
    pub fn start() -> Self {
        Self::with(&LiveOptions::default())
    }

    /// With this desk.
    ///
    /// # Panics
    /// When desk or host do not start.
    #[must_use]
    pub fn with(options: &LiveOptions) -> Self {
        let dir = tempfile::Builder::new().prefix("dh").tempdir().expect("a temporary folder");
        let home = Home::at(dir.path().join("h"));
        home.ensure().expect("a home");
        let mut wanted = Options {
            window_manager: options.window_manager,
            accessibility: options.accessibility,
            ..Options::default()
        }
        .size(options.size.0, options.size.1);
        if let Some((w, h)) = options.second {
            wanted = wanted.second(w, h);
        }
        let desk = Desk::start(&wanted, &home).unwrap_or_else(|e| panic!("the desk does not start: {e}"));
        let own = std::env::current_exe().expect("the test knows its own path");
        callers::allow(&home.callers_file(), &own, Some("the test itself")).expect("the test is allowed");
        let host = Self::spawn_host(&desk, &home, options);
        let client = connect(&home);
        Self { client, home, desk, host, dir, apps: std::sync::Mutex::default() }
    }

    fn spawn_host(desk: &Desk, home: &Home, options: &LiveOptions) -> Child {
        let log = std::fs::File::create(home.root().join("host.log")).expect("a log");
        desk.command(program("deskhand-host"))
            .env("DESKHAND_HOME", home.root())
            .envs(options.env.iter().cloned())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .expect("the host starts")
    }

    /// Another client of the same host.
    #[must_use]
    pub fn connect(&self) -> Client {
        connect(&self.home)
    }

    /// What the host wrote to its log.
    #[must_use]
    pub fn log(&self) -> String {
        std::fs::read_to_string(self.home.root().join("host.log")).unwrap_or_default()
    }

    /// A folder that goes away with the test.
    #[must_use]
    pub fn dir(&self) -> &std::path::Path {
        self.dir.path()
    }

    /// The command line on this host's home and desk.
    #[must_use]
    pub fn deskhand(&self) -> Command {
        let mut command = self.desk.command(program("deskhand"));
        command.env("DESKHAND_HOME", self.home.root()).env("LC_ALL", "C.UTF-8");
        command
    }

    /// Starts a program on the desk; it ends with the test.
    ///
    /// # Panics
    /// When it does not start.
    pub fn spawn(&self, name: &str, args: &[&str]) -> u32 {
        let child = self
            .desk
            .command(name)
            .args(args)
            .env("HOME", self.dir.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap_or_else(|e| panic!("{name}: {e}"));
        let pid = child.id();
        self.apps.lock().expect("no test thread panicked here").push(child);
        pid
    }

    /// Waits for a window whose title contains `title`; its facts as `app_list` gives them.
    ///
    /// # Panics
    /// When it does not come.
    pub fn window(&self, title: &str) -> Value {
        wait_for(&format!("a window with {title:?}"), Duration::from_secs(60), || {
            let list = self.call("app_list", json!({"include_windows": true})).result?;
            let windows = list["apps"]
                .as_array()?
                .iter()
                .flat_map(|a| a["windows"].as_array().cloned().unwrap_or_default());
            windows.into_iter().find(|w| w["title"].as_str().is_some_and(|t| t.contains(title)))
        })
    }

    /// A call; when it must be confirmed, it is.
    pub fn call(&self, tool: &str, args: Value) -> Outcome {
        self.full(tool, args, None, CallOptions::default(), None)
    }

    /// A call to a place.
    ///
    /// # Panics
    /// When the route is none.
    pub fn routed(&self, tool: &str, args: Value, route: Value) -> Outcome {
        let route = serde_json::from_value(route).expect("a route");
        self.full(tool, args, Some(route), CallOptions::default(), None)
    }

    /// A call with everything.
    pub fn full(
        &self,
        tool: &str,
        args: Value,
        route: Option<Route>,
        options: CallOptions,
        timeout_ms: Option<u64>,
    ) -> Outcome {
        let request = CallRequest { route, options, timeout_ms, ..CallRequest::new(tool, args) };
        let first = self.send(request.clone());
        match &first.error {
            Some(e) if e.code == ErrorCode::ConfirmRequired => {
                let phrase = e.details["phrase"].as_str().unwrap_or_default().to_owned();
                self.send(CallRequest { confirm: Some(phrase), ..request })
            }
            _ => first,
        }
    }

    /// One call as it is.
    ///
    /// # Panics
    /// When the bridge itself says no.
    pub fn send(&self, request: CallRequest) -> Outcome {
        let tool = request.tool.clone();
        let value =
            self.client.call(request, PATIENCE).unwrap_or_else(|e| panic!("{tool}: {e}\n{}", self.log()));
        serde_json::from_value(value).expect("an outcome")
    }

    /// A call that must succeed; its result.
    ///
    /// # Panics
    /// When it does not.
    pub fn ok(&self, tool: &str, args: Value) -> Value {
        let outcome = self.call(tool, args.clone());
        match outcome.error {
            None => outcome.result.unwrap_or_default(),
            Some(e) => panic!("{tool} {args}: {e}\n  {}\n  {:?}", e.hint, e.details),
        }
    }
}

/// A connection of the test's own to the desk's X server.
///
/// # Panics
/// When the server does not let it in.
#[must_use]
pub fn x11(live: &LiveHost) -> x11rb::rust_connection::RustConnection {
    use x11rb::rust_connection::{DefaultStream, RustConnection};
    let info = live.desk.info();
    let number = info.display.trim_start_matches(':');
    let path = format!("/tmp/.X11-unix/X{number}");
    let socket = std::os::unix::net::UnixStream::connect(path).expect("the X server listens");
    let (stream, _) = DefaultStream::from_unix_stream(socket).expect("a stream");
    let file = std::fs::read(&info.xauthority).expect("the desk's cookie");
    // The cookie is the last field of the only entry: a length of two bytes and sixteen bytes.
    let cookie = file[file.len() - 16..].to_vec();
    RustConnection::connect_to_stream_with_auth_info(stream, 0, b"MIT-MAGIC-COOKIE-1".to_vec(), cookie)
        .expect("the X server lets us in")
}

fn connect(home: &Home) -> Client {
    wait_for("the host to serve", Duration::from_secs(20), || {
        let client = Client::connect(&home.socket(), "test", "0").ok()?;
        client.hello().ok().map(|_| client)
    })
}

impl Drop for LiveHost {
    fn drop(&mut self) {
        let _ = self.host.kill();
        let _ = self.host.wait();
        if let Ok(mut apps) = self.apps.lock() {
            for app in apps.iter_mut() {
                let _ = app.kill();
                let _ = app.wait();
            }
        }
    }
}
