//! `deskhand down`.

use std::time::{Duration, Instant};

use deskhand_config::Home;
use deskhand_protocol::{Error, ErrorCode, HostStatus, method};
use serde_json::json;

use crate::connect;
use crate::ctx::Ctx;
use crate::fail::Run;
use crate::serve;

/// How long the host may take to end.
const END: Duration = Duration::from_secs(15);

/// Stop the host, and the virtual desk `up` made for it.
#[derive(clap::Args)]
#[command(after_help = "Example:\n  deskhand down")]
pub(crate) struct Args {}

pub(crate) fn run(_args: &Args, ctx: &Ctx) -> Run {
    let home = ctx.home()?;
    let status = match connect::status(&home) {
        Ok(status) => status,
        Err(error) if error.code == ErrorCode::HostNotRunning => {
            let words = ctx.lang.down_not_running();
            if ctx.json {
                ctx.json(&json!({ "stopped": false, "running": false }))?
            } else {
                ctx.line(&words)?
            }
            return Ok(0);
        }
        Err(error) if error.code == ErrorCode::CallerRefused => return by_signal(&home, error, ctx),
        Err(error) => return Err(error.into()),
    };
    let desk = serve::desk_of(&home, &status);
    match connect::ask(&home, method::SHUTDOWN, &json!({})) {
        Ok(_) => {}
        // It may be gone before its answer is written.
        Err(error) if error.code == ErrorCode::HostNotRunning => {}
        Err(error) => return Err(error.into()),
    }
    wait(&home, &status, desk.as_deref())?;
    if ctx.json {
        ctx.json(&json!({ "stopped": true, "running": false, "pid": status.pid, "desk": desk }))?;
    } else {
        ctx.line(&ctx.lang.down_done(status.pid))?;
    }
    Ok(0)
}

/// A host that was started by an older build refuses this one; it is ours all the same, and a signal
/// needs no bridge.
fn by_signal(home: &Home, refused: Error, ctx: &Ctx) -> Run {
    let lock = home.host_lock();
    let holder = deskhand_bridge::lock_holder(&lock);
    let process = holder.and_then(|pid| i32::try_from(pid).ok()).and_then(rustix::process::Pid::from_raw);
    let (Some(pid), Some(process)) = (holder, process) else { return Err(refused.into()) };
    if rustix::process::kill_process(process, rustix::process::Signal::TERM).is_err() {
        return Err(refused.into());
    }
    let start = Instant::now();
    while deskhand_bridge::lock_holder(&lock) == Some(pid) {
        if start.elapsed() > END {
            return Err(refused.hint(format!("end it with `kill -9 {pid}`")).into());
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    if ctx.json {
        ctx.json(&json!({ "stopped": true, "running": false, "pid": pid }))?;
    } else {
        ctx.line(&ctx.lang.down_done(pid))?;
    }
    Ok(0)
}

fn wait(home: &Home, status: &HostStatus, desk: Option<&str>) -> Result<(), Error> {
    let start = Instant::now();
    let lock = home.host_lock();
    loop {
        let host_ended = !home.socket().exists() && deskhand_bridge::lock_holder(&lock) != Some(status.pid);
        let desk_ended = || match desk {
            None => true,
            Some(name) => {
                deskhand_desk::list(home).is_ok_and(|desks| desks.iter().all(|desk| desk.name != name))
            }
        };
        if host_ended && desk_ended() {
            return Ok(());
        }
        if start.elapsed() > END {
            return Err(Error::new(
                ErrorCode::Timeout,
                format!(
                    "the host (pid {}) was asked to end and still runs after {} s",
                    status.pid,
                    END.as_secs()
                ),
            )
            .hint(format!("end it with `kill -9 {}`", status.pid))
            .detail("pid", status.pid));
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}
