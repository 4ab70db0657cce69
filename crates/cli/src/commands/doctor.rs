//! `deskhand doctor`: every capability, with the fix. The host knows the desktop; what lies before
//! the host (home, socket, packages) is looked at here.

use std::io::Read;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use deskhand_config::Home;
use deskhand_protocol::{Check, CheckStatus, Error, ErrorCode, HostStatus, method};
use serde_json::json;

use crate::connect::{self, VERSION};
use crate::ctx::Ctx;
use crate::fail::{FAILED, Run};
use crate::launch;
use crate::table::width;

/// How long all checks of the desktop together may take.
const PATIENCE: Duration = Duration::from_secs(25);
/// Largest answer of `deskhand-host --check`.
const MAX_ANSWER: u64 = 1 << 20;
/// Less free space than this is worth a word: actions do not run when they cannot be recorded.
const LITTLE_SPACE: u64 = 200 << 20;

/// Check every capability: pass, warn or fail, with the fix.
#[derive(clap::Args)]
#[command(after_help = "Exit code 1 if anything fails.\n\nExample:\n  deskhand doctor --json")]
pub(crate) struct Args {}

pub(crate) fn run(_args: &Args, ctx: &Ctx) -> Run {
    let home = ctx.home()?;
    let status = connect::status(&home);
    let mut checks = vec![host(&status), bridge(&home, &status), home_folder(&home), packages()];
    let told = match &status {
        Ok(_) => ask_host(&home),
        Err(_) => ask_program(&home),
    };
    match told {
        Ok(told) => checks.extend(
            told.into_iter().filter(|one| !["host", "bridge", "home", "packages"].contains(&&*one.id)),
        ),
        Err(error) => checks.push(Check {
            id: "desktop".to_owned(),
            status: CheckStatus::Fail,
            summary: format!("the desktop was not checked: {}", error.message),
            fix: error.hint,
            code: Some(error.code),
        }),
    }
    let overall = checks.iter().map(|check| check.status).max().unwrap_or(CheckStatus::Pass);
    if ctx.json {
        ctx.json(&json!({ "overall": overall, "checks": checks }))?;
    } else {
        ctx.line(&render(&checks, overall, ctx))?;
    }
    Ok(if overall == CheckStatus::Fail { FAILED } else { 0 })
}

fn check(id: &str, status: CheckStatus, summary: impl Into<String>, fix: impl Into<String>) -> Check {
    Check { id: id.to_owned(), status, summary: summary.into(), fix: fix.into(), code: None }
}

fn host(status: &Result<HostStatus, Error>) -> Check {
    let made = |status, summary: String, fix: &str| check("host", status, summary, fix);
    match status {
        Ok(host) if host.stopped => made(
            CheckStatus::Warn,
            format!("pid {} runs, held by an emergency stop", host.pid),
            "`deskhand resume` lets calls act again",
        ),
        Ok(host) if host.version != VERSION => made(
            CheckStatus::Warn,
            format!("pid {} runs version {}, this program is {VERSION}", host.pid, host.version),
            "`deskhand down`, then `deskhand up`",
        ),
        Ok(host) => made(CheckStatus::Pass, format!("pid {} runs version {}", host.pid, host.version), ""),
        Err(error) if error.code == ErrorCode::CallerRefused => {
            made(CheckStatus::Pass, "a host runs; it does not take calls of this program".to_owned(), "")
        }
        Err(error) => Check {
            code: Some(error.code),
            ..check("host", CheckStatus::Fail, error.message.clone(), error.hint.clone())
        },
    }
}

fn bridge(home: &Home, status: &Result<HostStatus, Error>) -> Check {
    if let Err(error) = status {
        if error.code == ErrorCode::HostNotRunning {
            return check(
                "bridge",
                CheckStatus::Warn,
                "cannot be checked while no host runs",
                "`deskhand up --detach`",
            );
        }
        let failed = check("bridge", CheckStatus::Fail, error.message.clone(), error.hint.clone());
        return Check { code: Some(error.code), ..failed };
    }
    for (path, wanted) in [(home.socket(), 0o600), (home.run_dir(), 0o700)] {
        if let Some(mode) = mode_of(&path).filter(|mode| mode & 0o077 != 0) {
            return check(
                "bridge",
                CheckStatus::Fail,
                format!("{} has mode {mode:o}: others may reach it", path.display()),
                format!("chmod {wanted:o} {}", path.display()),
            );
        }
    }
    check(
        "bridge",
        CheckStatus::Pass,
        format!("{} is yours alone, and takes calls of this program", home.socket().display()),
        "",
    )
}

fn mode_of(path: &Path) -> Option<u32> {
    path.metadata().ok().map(|meta| meta.permissions().mode() & 0o777)
}

fn home_folder(home: &Home) -> Check {
    let root = home.root();
    let shown = root.display();
    let Ok(meta) = root.metadata() else {
        return check("home", CheckStatus::Pass, format!("{shown} will be made when it is needed"), "");
    };
    let mode = meta.permissions().mode() & 0o777;
    if meta.uid() != rustix::process::geteuid().as_raw() {
        let summary = format!("{shown} belongs to uid {}, not to you", meta.uid());
        return check("home", CheckStatus::Fail, summary, "set DESKHAND_HOME to a folder of yours");
    }
    if mode & 0o077 != 0 {
        let summary = format!("{shown} has mode {mode:o}: others may read it");
        return check("home", CheckStatus::Warn, summary, format!("chmod 700 {shown}"));
    }
    let free =
        rustix::fs::statvfs(root).map(|disk| disk.f_bavail.saturating_mul(disk.f_frsize)).unwrap_or(u64::MAX);
    if free < LITTLE_SPACE {
        let summary = format!("{shown}: {} MB are free", free / 1_000_000);
        let fix = "free some disk space: actions do not run when they cannot be recorded";
        return check("home", CheckStatus::Warn, summary, fix);
    }
    check("home", CheckStatus::Pass, format!("{shown} is yours alone"), "")
}

/// What virtual desks are made of.
fn packages() -> Check {
    let parts = [("Xvfb", "xvfb"), ("openbox", "openbox"), ("dbus-daemon", "dbus-daemon")];
    let mut missing: Vec<(&str, &str)> =
        parts.into_iter().filter(|(program, _)| launch::in_path(program).is_none()).collect();
    let service = "dbus-1/services/org.a11y.Bus.service";
    if !["/usr/local/share", "/usr/share"].iter().any(|dir| Path::new(dir).join(service).exists()) {
        missing.push(("at-spi-bus-launcher", "at-spi2-core"));
    }
    if missing.is_empty() {
        return check("packages", CheckStatus::Pass, "virtual desks have all they need", "");
    }
    let (programs, packages): (Vec<_>, Vec<_>) = missing.into_iter().unzip();
    check(
        "packages",
        CheckStatus::Warn,
        format!("virtual desks cannot be started: {} missing", programs.join(", ")),
        format!("sudo apt-get install -y {} (or what your system calls them)", packages.join(" ")),
    )
}

fn ask_host(home: &Home) -> Result<Vec<Check>, Error> {
    let answer = connect::client(home)?.request(method::DOCTOR, &json!({}), PATIENCE)?;
    connect::read_list("checks", answer)
}

/// What a host would say if it were started here.
fn ask_program(home: &Home) -> Result<Vec<Check>, Error> {
    let program = launch::host_program()?;
    let cannot =
        |why: String| Error::new(ErrorCode::Internal, format!("{} --check: {why}", program.display()));
    let mut child = Command::new(&program)
        .arg("--check")
        .env("DESKHAND_HOME", home.root())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| cannot(error.to_string()))?;
    let out = child.stdout.take();
    let reader = std::thread::spawn(move || {
        let mut text = Vec::new();
        out.map(|out| out.take(MAX_ANSWER).read_to_end(&mut text));
        text
    });
    let start = Instant::now();
    while matches!(child.try_wait(), Ok(None)) {
        if start.elapsed() > PATIENCE {
            let _ = child.kill();
            let _ = child.wait();
            return Err(cannot(format!("no answer within {} s", PATIENCE.as_secs())));
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let text = reader.join().unwrap_or_default();
    let value = serde_json::from_slice(&text)
        .map_err(|error| cannot(format!("its answer cannot be read: {error}")))?;
    connect::read_list("checks", value)
}

fn render(checks: &[Check], overall: CheckStatus, ctx: &Ctx) -> String {
    let widest = checks.iter().map(|check| width(&check.id)).max().unwrap_or(0);
    let mut text = String::new();
    for check in checks {
        let mark = match check.status {
            CheckStatus::Pass => ctx.out.green("✔ pass"),
            CheckStatus::Warn => ctx.out.yellow("! warn"),
            CheckStatus::Fail => ctx.out.red("✘ fail"),
        };
        text.push_str(&format!("{mark}  {:widest$}  {}\n", check.id, ctx.out.foreign(&check.summary)));
        if !check.fix.is_empty() {
            text.push_str(&format!(
                "        {:widest$}  {} {}\n",
                "",
                ctx.out.dim(&format!("{}:", ctx.lang.label_fix())),
                ctx.out.foreign(&check.fix)
            ));
        }
    }
    let count = checks.iter().filter(|check| check.status == overall).count();
    text.push_str(&match overall {
        CheckStatus::Pass => ctx.lang.doctor_pass(),
        CheckStatus::Warn => ctx.lang.doctor_warn(count),
        CheckStatus::Fail => ctx.lang.doctor_fail(count),
    });
    text
}
