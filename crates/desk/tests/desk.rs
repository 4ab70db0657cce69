//! Desks as their users see them: real X servers, real kills. Every test has its own home, so that
//! they run side by side, and each ends by looking for anything left over.

#![allow(clippy::unwrap_used, reason = "the helpers of these tests are tests too")]

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use deskhand_config::Home;
use deskhand_desk::{Desk, DeskError, Options, Owner, exec, list, stop, sweep};
use deskhand_protocol::{Error, ErrorCode};

/// Only to see a hang; the machine may be loaded.
const LONG: Duration = Duration::from_secs(60);

/// A home of its own for a test, and what must be gone at its end.
struct Place {
    base: tempfile::TempDir,
    home: Home,
}

impl Place {
    fn new() -> Self {
        let base = tempfile::tempdir().unwrap();
        let home = Home::at(base.path().join("home"));
        Self { base, home }
    }

    /// Processes that have this home in their environment or on their command line.
    fn processes(&self) -> Vec<(u32, String)> {
        let root = self.home.root().as_os_str().as_encoded_bytes().to_vec();
        let holds = |file: &Path| {
            fs::read(file).is_ok_and(|bytes| bytes.windows(root.len()).any(|window| window == root))
        };
        let pids = fs::read_dir("/proc").unwrap().flatten();
        pids.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok())
            .filter(|&pid| pid != std::process::id() && !is_zombie(pid))
            .map(|pid| (pid, PathBuf::from(format!("/proc/{pid}"))))
            .filter(|(_, proc)| holds(&proc.join("environ")) || holds(&proc.join("cmdline")))
            .map(|(pid, proc)| (pid, fs::read_to_string(proc.join("comm")).unwrap_or_default()))
            .collect()
    }

    fn files(&self) -> Vec<PathBuf> {
        fs::read_dir(self.home.desks_dir()).into_iter().flatten().flatten().map(|e| e.path()).collect()
    }

    /// Waits until no process is left.
    fn wait_until_empty(&self) {
        until(
            "processes are still there",
            || self.processes().is_empty(),
            || format!("{:?}", self.processes()),
        );
    }

    fn assert_nothing_left(&self, displays: &[String]) {
        assert_eq!(self.processes(), vec![], "processes left");
        assert_eq!(self.files(), Vec::<PathBuf>::new(), "files left");
        for display in displays {
            assert!(!x_files_of_the_dead(display), "the X lock or socket of {display} is left");
        }
    }
}

impl Drop for Place {
    /// Ends what a failed test has left.
    fn drop(&mut self) {
        for (pid, _) in self.processes() {
            let _ = Command::new("kill").args(["-9", &pid.to_string()]).status();
        }
    }
}

fn until(what: &str, mut done: impl FnMut() -> bool, more: impl Fn() -> String) {
    let start = Instant::now();
    while !done() {
        assert!(start.elapsed() < LONG, "{what}: {}", more());
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn is_zombie(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with('Z'))
}

/// Whether a socket or a lock is there whose server is not. Another desk may have the number by now.
fn x_files_of_the_dead(display: &str) -> bool {
    let number = display.trim_start_matches(':');
    let socket = format!("/tmp/.X11-unix/X{number}");
    let dead = fs::exists(&socket).unwrap() && std::os::unix::net::UnixStream::connect(&socket).is_err();
    let lock = fs::read_to_string(format!("/tmp/.X{number}-lock"));
    dead || lock.is_ok_and(|pid| !Path::new("/proc").join(pid.trim()).exists())
}

fn kill(pid: u32, signal: &str) {
    assert!(Command::new("kill").args([signal, &pid.to_string()]).status().unwrap().success());
}

/// Runs [`role`] in a process of its own, as the owner of desks in `place`.
fn owner(place: &Place, role: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["role", "--exact", "--nocapture", "--test-threads=1"])
        .env("DESK_TEST_ROLE", role)
        .env("DESK_TEST_HOME", place.home.root())
        .env("DESKHAND_DESK_BIN", env!("CARGO_BIN_EXE_deskhand-desk"))
        .stdin(Stdio::null());
    command
}

fn run(mut command: Command) -> Output {
    command.output().unwrap()
}

/// Not a test by itself: what a process started by [`owner`] does.
#[test]
fn role() {
    let Ok(role) = std::env::var("DESK_TEST_ROLE") else { return };
    let home = Home::at(std::env::var_os("DESK_TEST_HOME").unwrap());
    match role.split_once(' ').unwrap_or((&role, "")) {
        ("own", _) => {
            let desk = Desk::start(&Options::default().size(640, 480), &home).unwrap();
            // A program without X, of the owner; and one that has left its parent.
            desk.command("sh").args(["-c", "setsid sleep 1001 & exit"]).status().unwrap();
            let mut app = desk.command("sleep").arg("1000").spawn().unwrap();
            fs::write(home.root().join("display"), desk.display()).unwrap();
            app.wait().unwrap();
        }
        ("exec", script) => {
            let command = ["sh", "-c", script].map(OsString::from);
            let code = match exec(&Options::default().size(640, 480), &home, &command) {
                Ok(code) => i32::from(code),
                Err(error) => {
                    let error: Error = error.into();
                    eprintln!("failed: {error} ({})", error.hint);
                    100
                }
            };
            std::process::exit(code);
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_desk_starts_shows_itself_and_stops() {
    let place = Place::new();
    let start = Instant::now();
    let desk = Desk::start(&Options::default().size(801, 603).name("mine"), &place.home).unwrap();
    eprintln!("ready after {:?}", start.elapsed());
    let display = desk.display().to_owned();

    let info = &list(&place.home).unwrap()[0];
    assert_eq!((info.name.as_str(), info.alive, info.size.width), ("mine", true, 801));
    assert_eq!(info.owner_pid, Some(std::process::id()));
    assert_eq!(info, desk.info());

    // The window manager and the accessibility bus answer.
    let check = run({
        let mut command = desk.command("xprop");
        command.args(["-root", "_NET_SUPPORTING_WM_CHECK"]);
        command
    });
    assert!(String::from_utf8_lossy(&check.stdout).contains("window id"), "{check:?}");
    let enabled = run({
        let mut command = desk.command("dbus-send");
        command.args(["--session", "--print-reply", "--dest=org.a11y.Bus", "/org/a11y/bus"]).args([
            "org.freedesktop.DBus.Properties.Get",
            "string:org.a11y.Status",
            "string:ScreenReaderEnabled",
        ]);
        command
    });
    assert!(String::from_utf8_lossy(&enabled.stdout).contains("boolean true"), "{enabled:?}");

    // Without the key nobody sees it.
    let stranger = run({
        let mut command = desk.command("xprop");
        command.arg("-root").env("XAUTHORITY", "/dev/null").env("HOME", "/nonexistent");
        command
    });
    assert!(!stranger.status.success(), "{stranger:?}");

    let png = desk.screenshot_png().unwrap();
    let mut picture = png::Decoder::new(std::io::Cursor::new(png)).read_info().unwrap();
    assert_eq!((picture.info().width, picture.info().height), (801, 603));
    let mut pixels = vec![0; picture.output_buffer_size().unwrap()];
    picture.next_frame(&mut pixels).unwrap();
    assert_eq!(pixels[pixels.len() - 3..], [0x2b, 0x3a, 0x42]);

    let again = Desk::start(&Options::default().name("mine"), &place.home).unwrap_err();
    let again: Error = again.into();
    assert_eq!(again.code, ErrorCode::InvalidInput);
    assert!(again.message.contains("mine"), "{again}");

    let attached = Desk::attach(&place.home, "mine").unwrap();
    assert_eq!(attached.env(), desk.env());
    drop(attached);
    desk.stop().unwrap();
    place.assert_nothing_left(&[display]);
    assert!(matches!(Desk::attach(&place.home, "mine"), Err(DeskError::NotFound(_))));
    assert!(matches!(stop(&place.home, "mine"), Err(DeskError::NotFound(_))));
}

#[test]
fn desks_run_side_by_side() {
    let place = Place::new();
    let desks: Vec<Desk> = std::thread::scope(|scope| {
        let start = || Desk::start(&Options::default().size(320, 240), &place.home).unwrap();
        let threads: Vec<_> = (0..3).map(|_| scope.spawn(start)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let mut names: Vec<_> = desks.iter().map(|d| d.name().to_owned()).collect();
    let mut displays: Vec<_> = desks.iter().map(|d| d.display().to_owned()).collect();
    for unique in [&mut names, &mut displays] {
        unique.sort();
        unique.dedup();
        assert_eq!(unique.len(), 3);
    }
    assert_eq!(list(&place.home).unwrap().len(), 3);
    // The end of one is not the end of the others.
    let mut desks = desks.into_iter();
    desks.next().unwrap().stop().unwrap();
    assert_eq!(list(&place.home).unwrap().len(), 2);
    for desk in desks {
        desk.screenshot_png().unwrap();
    }
    place.wait_until_empty();
    place.assert_nothing_left(&displays);
}

#[test]
fn a_desk_of_nobody_outlives_its_handle() {
    let place = Place::new();
    let options = Options { owner: Owner::Nobody, ..Options::default().size(320, 240) };
    let desk = Desk::start(&options, &place.home).unwrap();
    let (name, display) = (desk.name().to_owned(), desk.display().to_owned());
    drop(desk);
    assert_eq!(list(&place.home).unwrap()[0].owner_pid, None);
    let app = Desk::attach(&place.home, &name).unwrap().command("sleep").arg("1000").spawn().unwrap();
    stop(&place.home, &name).unwrap();
    place.assert_nothing_left(&[display]);
    reap(app);
}

fn reap(mut child: Child) {
    until("a program of the desk goes on", || child.try_wait().unwrap().is_some(), String::new);
}

#[test]
fn a_killed_owner_leaves_nothing() {
    let place = Place::new();
    let mut owner = owner(&place, "own").stdout(Stdio::null()).spawn().unwrap();
    let file = place.home.root().join("display");
    until("the owner has no desk", || fs::read(&file).is_ok_and(|d| !d.is_empty()), String::new);
    let display = fs::read_to_string(&file).unwrap();
    // Supervisor, X, bus, window manager, accessibility bus, two programs.
    assert!(place.processes().len() >= 7, "{:?}", place.processes());
    kill(owner.id(), "-9");
    owner.wait().unwrap();
    place.wait_until_empty();
    place.assert_nothing_left(&[display]);
}

#[test]
fn a_killed_supervisor_leaves_nothing() {
    let place = Place::new();
    let mut desk = Desk::start(&Options::default().size(320, 240), &place.home).unwrap();
    let display = desk.display().to_owned();
    // It ignores the end of X, and its parent is not the supervisor.
    let mut app = desk.command("sh").args(["-c", "trap '' TERM HUP; sleep 1000"]).spawn().unwrap();
    kill(desk.info().pid, "-9");
    let parts = |p: &Place| {
        let names = ["Xvfb", "openbox", "dbus-daemon"];
        p.processes().into_iter().filter(|(_, name)| names.contains(&name.trim())).count()
    };
    until("parts go on without their supervisor", || parts(&place) == 0, String::new);
    until("the end is not seen", || desk.ended().is_some(), String::new);
    assert_eq!(sweep(&place.home).unwrap(), ["desk-1"]);
    app.wait().unwrap();
    place.wait_until_empty();
    place.assert_nothing_left(&[display]);
    assert_eq!(list(&place.home).unwrap(), vec![]);
}

#[test]
fn a_dead_x_server_ends_the_desk_and_is_recorded() {
    let place = Place::new();
    let mut desk = Desk::start(&Options::default().size(320, 240), &place.home).unwrap();
    let display = desk.display().to_owned();
    let x = place.processes().into_iter().find(|(_, name)| name.trim() == "Xvfb").unwrap().0;
    kill(x, "-9");
    let mut why = None;
    until(
        "the end is not seen",
        || {
            why = desk.ended();
            why.is_some()
        },
        String::new,
    );
    let why = why.unwrap();
    assert!(why.contains("Xvfb") && why.contains("signal 9"), "{why}");
    place.assert_nothing_left(&[display]);
    let log = fs::read_to_string(place.home.logs_dir().join("desks.log")).unwrap();
    assert!(log.contains("signal 9"), "{log}");
    desk.stop().unwrap();
}

#[test]
fn a_desk_goes_on_without_its_window_manager() {
    let place = Place::new();
    let mut desk = Desk::start(&Options::default().size(320, 240), &place.home).unwrap();
    let manager = place.processes().into_iter().find(|(_, name)| name.trim() == "openbox").unwrap().0;
    kill(manager, "-9");
    let log = place.home.logs_dir().join("desks.log");
    until(
        "it is not recorded",
        || fs::read_to_string(&log).is_ok_and(|l| l.contains("openbox")),
        String::new,
    );
    desk.screenshot_png().unwrap();
    assert_eq!(desk.ended(), None);
}

#[test]
fn two_monitors() {
    let place = Place::new();
    let desk = Desk::start(&Options::default().size(1001, 701).second(640, 481), &place.home).unwrap();
    let seen = run({
        let mut command = desk.command("xrandr");
        command.arg("--listmonitors");
        command
    });
    let seen = String::from_utf8_lossy(&seen.stdout).into_owned();
    assert!(seen.contains("Monitors: 2"), "{seen}");
    assert!(seen.contains("*left 1001/") && seen.contains("x701/") && seen.contains("+0+0"), "{seen}");
    assert!(seen.contains("right 640/") && seen.contains("x481/") && seen.contains("+1001+0"), "{seen}");
    assert_eq!(list(&place.home).unwrap()[0].second.unwrap().width, 640);
    desk.stop().unwrap();
}

#[test]
fn exec_ends_like_its_command_and_leaves_nothing() {
    let place = Place::new();
    let daemon = "setsid sh -c 'trap \"\" HUP TERM; sleep 1000' </dev/null >/dev/null 2>&1 & sleep 0.1";
    for (script, code) in [
        ("exit 0", 0),
        ("exit 7", 7),
        ("kill -9 $$", 128 + 9),
        ("test -n \"$DISPLAY\" && xprop -root >/dev/null && test -z \"$WAYLAND_DISPLAY\"", 0),
        ("exec deskhand-no-such-program", 127),
        // Left behind: a stubborn daemon, one without the desk's environment, a service of the bus
        // (which the bus starts, not the command).
        (&format!("{daemon}; exit 3"), 3),
        (&format!("env -i {daemon}; exit 4"), 4),
        ("gdbus introspect --session --dest org.a11y.Bus --object-path /org/a11y/bus >/dev/null; exit 5", 5),
    ] {
        let mut command = owner(&place, &format!("exec {script}"));
        let out = run({
            command.env("WAYLAND_DISPLAY", "wayland-0");
            command
        });
        assert_eq!(out.status.code(), Some(code), "{script}: {out:?}");
        place.assert_nothing_left(&[]);
    }
    let stray = run({
        let mut command = Command::new("pgrep");
        command.args(["-f", "trap \"\" HUP TERM; sleep 1000"]);
        command
    });
    assert_eq!(String::from_utf8_lossy(&stray.stdout), "", "a daemon without environment is left");
}

#[test]
fn exec_passes_signals_on() {
    let place = Place::new();
    let ready = place.base.path().join("ready");
    let script = format!("exec trap 'exit 42' INT; touch {}; while :; do sleep 0.05; done", ready.display());
    // A session of its own: no terminal sends the signal to the command as well.
    let mut setsid = Command::new("setsid");
    let test = owner(&place, &script);
    setsid.arg(test.get_program()).args(test.get_args());
    setsid.envs(test.get_envs().filter_map(|(key, value)| Some((key, value?))));
    let mut running = setsid.stdout(Stdio::null()).spawn().unwrap();
    until("the command does not run", || ready.exists(), String::new);
    kill(running.id(), "-INT");
    assert_eq!(running.wait().unwrap().code(), Some(42));
    place.assert_nothing_left(&[]);
}

#[test]
fn exec_ends_with_its_killed_owner() {
    let place = Place::new();
    let ready = place.base.path().join("ready");
    let script = format!("exec touch {}; trap '' TERM; sleep 1000", ready.display());
    let mut running = owner(&place, &script).stdout(Stdio::null()).spawn().unwrap();
    until("the command does not run", || ready.exists(), String::new);
    kill(running.id(), "-9");
    running.wait().unwrap();
    place.wait_until_empty();
    place.assert_nothing_left(&[]);
}

#[test]
fn fifty_times_true() {
    let place = Place::new();
    let start = Instant::now();
    for _ in 0..50 {
        let out = run(owner(&place, "exec true"));
        assert_eq!(out.status.code(), Some(0), "{out:?}");
    }
    eprintln!("50 × exec true: {:?}", start.elapsed());
    place.assert_nothing_left(&[]);
}

#[test]
fn missing_programs_are_named_with_the_line_to_type() {
    let place = Place::new();
    let empty = place.base.path().join("bin");
    fs::create_dir(&empty).unwrap();
    let mut command = owner(&place, "exec true");
    command.env("PATH", &empty);
    let out = run(command);
    let said = String::from_utf8_lossy(&out.stderr);
    assert_eq!(out.status.code(), Some(100), "{out:?}");
    for word in ["Xvfb", "dbus-daemon", "openbox", "install", "DESKTOP_UNSUPPORTED"] {
        assert!(said.contains(word), "{word} is not in {said}");
    }
    place.assert_nothing_left(&[]);

    let mut command = owner(&place, "exec true");
    command.env("DESKHAND_DESK_BIN", empty.join("deskhand-desk"));
    let out = run(command);
    let said = String::from_utf8_lossy(&out.stderr);
    assert!(said.contains("DESKHAND_DESK_BIN"), "{said}");
}

#[test]
fn a_part_that_does_not_start_is_named_with_its_words() {
    let place = Place::new();
    let bin = place.base.path().join("bin");
    fs::create_dir(&bin).unwrap();
    let broken = bin.join("Xvfb");
    fs::write(&broken, "#!/bin/sh\necho 'no such luck' >&2\nexit 3\n").unwrap();
    Command::new("chmod").arg("+x").arg(&broken).status().unwrap();
    let mut command = owner(&place, "exec true");
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    command.env("PATH", path);
    let out = run(command);
    let said = String::from_utf8_lossy(&out.stderr);
    assert!(said.contains("Xvfb") && said.contains("no such luck"), "{said}");
    place.assert_nothing_left(&[]);
}

#[test]
fn a_display_number_that_is_taken_is_drawn_again() {
    let place = Place::new();
    let bin = place.base.path().join("bin");
    fs::create_dir(&bin).unwrap();
    let tries = place.base.path().join("tries");
    let real = run({
        let mut command = Command::new("sh");
        command.args(["-c", "command -v Xvfb"]);
        command
    });
    // The first two find their number taken, as the real one says it.
    let script = format!(
        "#!/bin/sh\necho $1 >>{tries}\ntest $(wc -l <{tries}) -lt 3 || exec {real} \"$@\"\n\
         echo '_XSERVTransMakeAllCOTSServerListeners: server already running' >&2\nexit 1\n",
        tries = tries.display(),
        real = String::from_utf8_lossy(&real.stdout).trim(),
    );
    fs::write(bin.join("Xvfb"), script).unwrap();
    Command::new("chmod").arg("+x").arg(bin.join("Xvfb")).status().unwrap();
    let mut command = owner(&place, "exec xprop -root >/dev/null");
    command.env("PATH", format!("{}:{}", bin.display(), std::env::var("PATH").unwrap()));
    let out = run(command);
    assert_eq!(out.status.code(), Some(0), "{out:?}");
    assert_eq!(fs::read_to_string(&tries).unwrap().lines().count(), 3);
    place.assert_nothing_left(&[]);
}

#[test]
fn a_home_too_deep_for_sockets_works() {
    let base = tempfile::tempdir().unwrap();
    let home = Home::at(base.path().join("d".repeat(120)));
    let desk = Desk::start(&Options::default().size(320, 240), &home).unwrap();
    let runtime = desk.info().runtime_dir.clone();
    assert!(runtime.exists() && !runtime.starts_with(base.path()));
    desk.stop().unwrap();
    assert!(!runtime.exists());
}

#[test]
fn wrong_options_are_refused_before_anything_starts() {
    let place = Place::new();
    for (options, field) in [
        (Options::default().name("Not A Name"), "name"),
        (Options::default().size(0, 100), "size"),
        (Options::default().second(100, 1_000_000), "second"),
        (Options { dpi: 1, ..Options::default() }, "dpi"),
    ] {
        let error: Error = Desk::start(&options, &place.home).unwrap_err().into();
        assert_eq!(error.code, ErrorCode::InvalidInput);
        assert!(error.message.contains(field), "{error}");
    }
    place.assert_nothing_left(&[]);
}
