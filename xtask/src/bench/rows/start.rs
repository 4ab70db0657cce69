//! The command line from start to exit.

use std::process::Command;

use crate::bench::host::Host;
use crate::bench::peer::program;
use crate::bench::report::{Bar, Line};
use crate::bench::stats::Stats;
use crate::bench::{Bench, Rows};

/// A whole call against the same program doing nothing.
pub(crate) fn run(bench: &Bench) -> Rows {
    let host = Host::start(bench)?;
    let deskhand = |words: &[&str]| {
        let mut command = Command::new(bench.program("deskhand"));
        program(command.args(words).env("DESKHAND_HOME", &host.home))
    };
    let (mut call, mut version) = (Vec::new(), Vec::new());
    for n in 0..bench.samples(100) + 3 {
        let (a, b) = (deskhand(&["call", "system_info", "--json"]), deskhand(&["version"]));
        if n >= 3 {
            call.extend(a);
            version.extend(b);
        }
    }
    let what = "`deskhand call system_info`";
    Ok(vec![Line::against(
        "start",
        what,
        Stats::of(call),
        ("deskhand version", Stats::of(version)),
        Bar::AtMost(15.0),
    )])
}
