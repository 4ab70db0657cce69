//! Bad input and broken surroundings: the right error, in time, and the host goes on.

// Test code: a panic is how it says no.
#![allow(clippy::unwrap_used, clippy::needless_pass_by_value)]

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use deskhand_bridge::{Client, callers};
use deskhand_config::Home;
use deskhand_e2e::{LiveHost, LiveOptions, program, wait_for, x11};
use deskhand_protocol::{CallOptions, ErrorCode, Outcome};
use serde_json::json;
use x11rb::connection::Connection;
use x11rb::protocol::xproto::{AtomEnum, ConnectionExt as _, CreateWindowAux, PropMode, WindowClass};
use x11rb::wrapper::ConnectionExt as _;

fn error(outcome: Outcome) -> deskhand_protocol::Error {
    let e = outcome.error.unwrap_or_else(|| panic!("no error but {:?}", outcome.result));
    assert!(!e.hint.is_empty(), "{e} has no hint");
    e
}

fn serves(live: &LiveHost) {
    assert!(live.call("system_info", json!({})).error.is_none(), "{}", live.log());
}

#[test]
fn wrong_words() {
    let live = LiveHost::start();
    let cases = [
        ("screenshoot", json!({}), ErrorCode::UnknownTool),
        ("left_click", json!({"x": 1, "y": 2, "colour": 3}), ErrorCode::InvalidInput),
        ("screenshot", json!({"mode": "upside-down"}), ErrorCode::InvalidInput),
        ("screenshot", json!({"mode": "region"}), ErrorCode::InvalidInput),
        (
            "screenshot",
            json!({"mode": "region", "region": {"x": 5000, "y": 0, "width": 5, "height": 5}}),
            ErrorCode::OutOfRange,
        ),
        (
            "screenshot",
            json!({"mode": "window", "window_title": "no such window"}),
            ErrorCode::WindowNotFound,
        ),
        (
            "window_manage",
            json!({"window_title": "no such window", "action": "minimize"}),
            ErrorCode::WindowNotFound,
        ),
        ("app_launch", json!({"name": "no-such-program-at-all"}), ErrorCode::AppNotFound),
        ("app_close", json!({"name": "no-such-program-at-all"}), ErrorCode::AppNotFound),
        ("key_press", json!({"keys": ["nosuchkey"]}), ErrorCode::InvalidInput),
        ("hotkey", json!({"keys": ["ctrl", "a"], "reason": ""}), ErrorCode::InvalidInput),
        ("find", json!({"selector": {"byTitle": {"regex": "("}}}), ErrorCode::InvalidInput),
    ];
    for (tool, args, want) in cases {
        let e = error(live.call(tool, args.clone()));
        assert_eq!(e.code, want, "{tool} {args}: {e}");
    }
    serves(&live);
}

#[test]
fn a_dead_pid() {
    let live = LiveHost::start();
    let mut child = Command::new("true").spawn().unwrap();
    let pid = child.id();
    child.wait().unwrap();
    let e = error(live.routed("key_press", json!({"keys": ["a"]}), json!({"app": {"pid": pid}})));
    assert_eq!(e.code, ErrorCode::AppNotFound, "{e}");
    let e = error(live.routed("dump_ax_tree", json!({}), json!({"app": {"pid": pid}})));
    assert_eq!(e.code, ErrorCode::AppNotFound, "{e}");
    serves(&live);
}

#[test]
fn a_title_that_is_no_text() {
    let live = LiveHost::start();
    let conn = x11(&live);
    let screen = &conn.setup().roots[0];
    let window = conn.generate_id().unwrap();
    let aux = CreateWindowAux::new().background_pixel(screen.white_pixel);
    conn.create_window(
        screen.root_depth,
        window,
        screen.root,
        50,
        50,
        300,
        200,
        0,
        WindowClass::INPUT_OUTPUT,
        0,
        &aux,
    )
    .unwrap();
    let title = b"broken \xff\xfe\x80 title";
    let utf8 = conn.intern_atom(false, b"UTF8_STRING").unwrap().reply().unwrap().atom;
    let name = conn.intern_atom(false, b"_NET_WM_NAME").unwrap().reply().unwrap().atom;
    conn.change_property8(PropMode::REPLACE, window, AtomEnum::WM_NAME, AtomEnum::STRING, title).unwrap();
    conn.change_property8(PropMode::REPLACE, window, name, utf8, title).unwrap();
    conn.map_window(window).unwrap();
    conn.flush().unwrap();
    let seen = live.window("broken");
    assert!(seen["title"].as_str().unwrap().contains("title"), "{seen}");
    assert!(live.call("screenshot", json!({"mode": "window", "window_title": "broken"})).error.is_none());
    serves(&live);
}

#[test]
fn frames_that_are_too_large_or_torn() {
    let live = LiveHost::start();
    let mut giant = UnixStream::connect(live.home.socket()).unwrap();
    giant.set_write_timeout(Some(Duration::from_secs(10))).unwrap();
    giant.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    let chunk = vec![b'x'; 1 << 20];
    let mut sent = 0u64;
    while sent < 1 << 30 {
        match giant.write(&chunk) {
            Ok(n) => sent += n as u64,
            Err(_) => break,
        }
    }
    assert!(sent < 1 << 28, "the host read {sent} bytes of one frame");
    let mut answer = String::new();
    let _ = giant.read_to_string(&mut answer);
    assert!(answer.is_empty() || answer.contains("DESKTOP_FRAME_TOO_LARGE"), "{answer}");
    let status = std::fs::read_to_string(format!("/proc/{}/status", live.host.id())).unwrap();
    let rss: u64 = status
        .lines()
        .find_map(|l| l.strip_prefix("VmRSS:"))
        .unwrap()
        .split_whitespace()
        .next()
        .unwrap()
        .parse()
        .unwrap();
    assert!(rss < 150_000, "the host holds {rss} kB");
    let mut half = UnixStream::connect(live.home.socket()).unwrap();
    half.write_all(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"meth").unwrap();
    drop(half);
    serves(&live);
}

#[test]
fn a_frozen_application_costs_its_own_time_only() {
    let live = LiveHost::start();
    let pid = live.spawn("mousepad", &["--disable-server"]);
    live.window("Mousepad");
    live.spawn("zenity", &["--info", "--title=Alive", "--text=hello"]);
    live.window("Alive");
    live.routed("dump_ax_tree", json!({}), json!({"app": {"pid": pid}}))
        .result
        .expect("it answers while it lives");
    let process = rustix::process::Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
    rustix::process::kill_process(process, rustix::process::Signal::STOP).unwrap();
    let began = Instant::now();
    let frozen = live.routed(
        "click",
        json!({"target": {"selector": {"byTitle": {"contains": "Untitled"}}}}),
        json!({"app": {"pid": pid}}),
    );
    let e = error(frozen);
    assert!(matches!(e.code, ErrorCode::AppUnresponsive | ErrorCode::FocusLost), "{e}");
    assert!(began.elapsed() < Duration::from_secs(15));
    let all = live.ok("dump_ax_tree", json!({"root": "desktop"}));
    assert!(all["unresponsive"].as_array().is_some_and(|u| !u.is_empty()), "the frozen one must be named");
    let alive = live.routed(
        "find",
        json!({"selector": {"byRole": "button"}}),
        json!({"window": {"titlePattern": "Alive"}}),
    );
    assert!(alive.error.is_none(), "{:?}", alive.error);
    assert!(live.call("screenshot", json!({"mode": "fullscreen"})).error.is_none());
    rustix::process::kill_process(process, rustix::process::Signal::CONT).unwrap();
    wait_for("it to answer again", Duration::from_secs(30), || {
        live.routed("dump_ax_tree", json!({}), json!({"app": {"pid": pid}})).result
    });
}

/// A host on a bare X server of its own, which can be killed without taking the host along.
#[test]
fn the_display_server_dies_and_comes_back() {
    let dir = tempfile::Builder::new().prefix("dh").tempdir().unwrap();
    let home = Home::at(dir.path().join("h"));
    home.ensure().unwrap();
    let start = |number: Option<&str>| {
        let mut command = Command::new("Xvfb");
        command.args(number).args(["-displayfd", "1", "-screen", "0", "800x600x24", "-nolisten", "tcp"]);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("Xvfb");
        let mut name = String::new();
        let mut out = child.stdout.take().unwrap();
        let mut byte = [0];
        while out.read(&mut byte).unwrap() == 1 && byte[0] != b'\n' {
            name.push(byte[0] as char);
        }
        (child, format!(":{name}"))
    };
    let (mut server, display) = start(None);
    callers::allow(&home.callers_file(), &std::env::current_exe().unwrap(), None).unwrap();
    let mut host = Command::new(program("deskhand-host"))
        .env("DISPLAY", &display)
        .env("DESKHAND_HOME", home.root())
        .env_remove("XAUTHORITY")
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let client = wait_for("the host", Duration::from_secs(20), || {
        let client = Client::connect(&home.socket(), "test", "0").ok()?;
        client.hello().ok().map(|_| client)
    });
    let shot = || -> Outcome {
        let request = deskhand_bridge::CallRequest::new("screenshot", json!({"mode": "fullscreen"}));
        serde_json::from_value(client.call(request, Duration::from_secs(30)).unwrap()).unwrap()
    };
    assert!(shot().error.is_none());
    server.kill().unwrap();
    server.wait().unwrap();
    let e = error(shot());
    assert_eq!(e.code, ErrorCode::DisplayUnavailable, "{e}");
    let info = deskhand_bridge::CallRequest::new("system_info", json!({}));
    let info: Outcome = serde_json::from_value(client.call(info, Duration::from_secs(10)).unwrap()).unwrap();
    assert_eq!(info.result.expect("the host goes on")["displays"], json!([]));
    let (mut server, again) = start(Some(&display));
    assert_eq!(again, display);
    wait_for("pixels again", Duration::from_secs(20), || shot().result);
    host.kill().unwrap();
    host.wait().unwrap();
    server.kill().unwrap();
    server.wait().unwrap();
}

#[test]
fn the_accessibility_bus_dies() {
    let live = LiveHost::start();
    live.spawn("zenity", &["--info", "--title=Alive", "--text=hello"]);
    live.window("Alive");
    live.ok("dump_ax_tree", json!({}));
    let mine = format!("XDG_RUNTIME_DIR={}", live.desk.info().runtime_dir.display());
    let mut killed = 0;
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let Ok(pid) = entry.file_name().to_string_lossy().parse::<i32>() else { continue };
        let read = |what: &str| {
            String::from_utf8_lossy(&std::fs::read(entry.path().join(what)).unwrap_or_default()).into_owned()
        };
        let words = read("cmdline");
        let a11y = words.contains("at-spi-bus-launcher")
            || words.contains("accessibility.conf")
            || words.contains("at-spi2-registryd");
        if a11y && read("environ").contains(&mine) {
            let pid = rustix::process::Pid::from_raw(pid).unwrap();
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
            killed += 1;
        }
    }
    assert!(killed > 0, "the accessibility bus was not found");
    let began = Instant::now();
    let outcome =
        live.full("dump_ax_tree", json!({"root": "desktop"}), None, CallOptions::default(), Some(8000));
    if let Some(e) = outcome.error {
        assert_eq!(e.code, ErrorCode::AxUnavailable, "{e}");
    }
    assert!(began.elapsed() < Duration::from_secs(15));
    assert!(live.call("screenshot", json!({"mode": "fullscreen"})).error.is_none());
    serves(&live);
}

#[test]
fn a_full_disk() {
    if !rustix::process::geteuid().is_root() {
        eprintln!("skipped: only root can mount a small disk to fill");
        return;
    }
    let live = LiveHost::start();
    let artifacts = live.home.root().join("artifacts");
    std::fs::create_dir(&artifacts).unwrap();
    let mounted = Command::new("mount")
        .args(["-t", "tmpfs", "-o", "size=64k,nr_inodes=64", "none"])
        .arg(&artifacts)
        .status()
        .unwrap();
    assert!(mounted.success(), "mount failed");
    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        std::fs::create_dir(artifacts.join("desktop")).unwrap();
        let mut filler = std::fs::File::create(artifacts.join("filler")).unwrap();
        while filler.write_all(&[0; 512]).is_ok() {}
        let e = error(live.call("mouse_move", json!({"x": 77, "y": 77, "smooth": false})));
        assert_eq!(e.code, ErrorCode::EvidenceFailed, "{e}");
        let seen = live.full(
            "observe",
            json!({"screenshot": false}),
            None,
            CallOptions {
                evidence: Some(deskhand_protocol::EvidenceLevel::Minimal),
                ..CallOptions::default()
            },
            None,
        );
        let seen = seen.result.expect("looking goes on");
        assert_ne!(
            (seen["cursor"]["x"].as_i64(), seen["cursor"]["y"].as_i64()),
            (Some(77), Some(77)),
            "it must not have moved"
        );
    }));
    let _ = Command::new("umount").arg("-l").arg(&artifacts).status();
    if let Err(panic) = outcome {
        std::panic::resume_unwind(panic);
    }
    assert!(
        live.call("mouse_move", json!({"x": 78, "y": 78, "smooth": false})).error.is_none(),
        "it goes on when there is room again"
    );
}

#[test]
fn a_second_host_on_the_same_home_ends_at_once() {
    let live = LiveHost::with(&LiveOptions::default());
    let out =
        live.desk.command(program("deskhand-host")).env("DESKHAND_HOME", live.home.root()).output().unwrap();
    assert_eq!(out.status.code(), Some(1));
    let words = String::from_utf8_lossy(&out.stderr);
    assert!(words.contains("DESKTOP_HOST_ALREADY_RUNNING") && words.contains("deskhand down"), "{words}");
    serves(&live);
}
