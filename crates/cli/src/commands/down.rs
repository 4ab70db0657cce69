//! `deskhand down`.

use std::time::{Duration, Instant};

use deskhand_config::Home;
use deskhand_protocol::{Error, ErrorCode, HostStatus, method};
use serde_json::json;

use crate::connect;
use crate::ctx::Ctx;
use crate::fail::Run;

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
            if ctx.json { ctx.json(&json!({ "stopped": false, "running": false }))? } else { ctx.line(&words)? }
            return Ok(0);
        }
        Err(error) => return Err(error.into()),
    };
    let desk = own_desk(&home, &status);
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

/// The desk that lives and ends with the host: its owner is the host's parent.
fn own_desk(home: &Home, status: &HostStatus) -> Option<String> {
    let parent = parent_of(status.pid)?;
    let desks = deskhand_desk::list(home).ok()?;
    desks.into_iter().find(|desk| desk.owner_pid == Some(parent) && desk.display == status.display).map(|desk| desk.name)
}

fn parent_of(pid: u32) -> Option<u32> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name is in brackets and may contain anything, so count from its end.
    stat.rsplit_once(')')?.1.split_ascii_whitespace().nth(1)?.parse().ok()
}

fn wait(home: &Home, status: &HostStatus, desk: Option<&str>) -> Result<(), Error> {
    let start = Instant::now();
    let lock = home.host_lock();
    loop {
        let host_ended = !home.socket().exists() && deskhand_bridge::lock_holder(&lock) != Some(status.pid);
        let desk_ended = || match desk {
            None => true,
            Some(name) => deskhand_desk::list(home).is_ok_and(|desks| desks.iter().all(|desk| desk.name != name)),
        };
        if host_ended && desk_ended() {
            return Ok(());
        }
        if start.elapsed() > END {
            return Err(Error::new(
                ErrorCode::Timeout,
                format!("the host (pid {}) was asked to end and still runs after {} s", status.pid, END.as_secs()),
            )
            .hint(format!("end it with `kill -9 {}`", status.pid))
            .detail("pid", status.pid));
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_parent_is_read_from_the_kernel() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        assert_eq!(super::parent_of(child.id()), Some(std::process::id()));
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(super::parent_of(0), None);
    }
}
