//! The rows of the benchmark, one file each; each can run alone.

mod click;
mod dump;
mod growth;
mod idle;
mod observe;
mod screenshot;
mod start;
mod typing;

use super::{Bench, Rows};

/// One row.
pub(crate) struct Row {
    /// What `--only` takes.
    pub name: &'static str,
    /// One line for people.
    pub about: &'static str,
    /// Measures it.
    pub run: fn(&Bench) -> Rows,
}

/// Every row, in the order they are run.
pub(crate) const ALL: &[Row] = &[
    Row {
        name: "screenshot",
        about: "1920×1080 → 1568 → JPEG 80 → base64 through the bridge",
        run: screenshot::run,
    },
    Row { name: "click", about: "a click through a warm connection, verify off", run: click::run },
    Row {
        name: "dump",
        about: "accessibility trees of mousepad, Chromium, Calc: cold and again",
        run: dump::run,
    },
    Row { name: "observe", about: "picture, tree, focus and pointer of one moment", run: observe::run },
    Row { name: "typing", about: "2,000 mixed characters, read back", run: typing::run },
    Row { name: "start", about: "`deskhand call system_info` from start to exit", run: start::run },
    Row { name: "idle", about: "memory and CPU of a host that waits; sizes of the programs", run: idle::run },
    Row { name: "growth", about: "how cost grows with nodes and with clients", run: growth::run },
];
