//! A host that waits.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::bench::host::Host;
use crate::bench::report::{Bar, Line};
use crate::bench::stats::Stats;
use crate::bench::{Bench, Rows, apps};

const ROW: &str = "idle";
/// How long it is watched.
const WATCH: Duration = Duration::from_secs(10);
/// Clock ticks per second in `/proc`; the same on every Linux of today.
const TICKS: f64 = 100.0;

/// Memory and CPU over ten seconds, fresh and after some work; sizes of the stripped programs.
pub(crate) fn run(bench: &Bench) -> Rows {
    let host = Host::start(bench)?;
    host.call("system_info", json!({}))?;
    let mut lines = watch(&host, "fresh host")?;
    let app = apps::mousepad(bench, &host)?;
    for _ in 0..20 {
        host.call("screenshot", json!({"mode": "fullscreen"}))?;
        host.call("observe", json!({}))?;
    }
    lines.extend(watch(&host, "after 20 observes and screenshots")?);
    drop(app);
    for name in ["deskhand", "deskhand-host", "deskhand-desk"] {
        let size = std::fs::metadata(bench.program(name))?.len() as f64 / 1e6;
        lines.push(
            Line::alone(ROW, format!("size of {name}"), Stats::of(vec![size]), Bar::AtMost(15.0)).unit("MB"),
        );
    }
    Ok(lines)
}

fn watch(host: &Host, when: &str) -> Rows {
    std::thread::sleep(Duration::from_secs(2));
    let (before, began) = (ticks(host.pid())?, Instant::now());
    std::thread::sleep(WATCH);
    let used = (ticks(host.pid())? - before) / TICKS;
    let percent = used / began.elapsed().as_secs_f64() * 100.0;
    let memory = resident(host.pid())?;
    Ok(vec![
        Line::alone(ROW, format!("memory, {when}"), Stats::of(vec![memory]), Bar::AtMost(25.0)).unit("MB"),
        Line::alone(ROW, format!("CPU, {when}"), Stats::of(vec![percent]), Bar::AtMost(0.5)).unit("%"),
    ])
}

/// Resident memory in MB.
fn resident(pid: u32) -> Result<f64, Box<dyn std::error::Error>> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status"))?;
    let line = status.lines().find_map(|l| l.strip_prefix("VmRSS:")).ok_or("no VmRSS")?;
    let kilobytes: f64 = line.trim().trim_end_matches("kB").trim().parse()?;
    Ok(kilobytes * 1024.0 / 1e6)
}

/// CPU ticks used so far, by the program and in the kernel for it.
fn ticks(pid: u32) -> Result<f64, Box<dyn std::error::Error>> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"))?;
    // The name in brackets may hold anything; fields are counted after it.
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let field = |n: usize| fields.get(n).and_then(|f| f.parse::<f64>().ok()).ok_or("short /proc/PID/stat");
    Ok(field(11)? + field(12)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_has_memory_and_ticks() {
        let me = std::process::id();
        assert!(resident(me).unwrap() > 0.1);
        assert!(ticks(me).unwrap() >= 0.0);
    }
}
