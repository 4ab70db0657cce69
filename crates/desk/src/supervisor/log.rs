//! Where it is written down why a desk ended that nobody ended.

use std::fs::{self, File};
use std::io::Write;

use deskhand_config::Home;
use serde_json::json;

use crate::dirs;
use crate::state::now;

/// Larger than this, the log becomes `desks.log.1` and a new one is begun.
const MAX_BYTES: u64 = 256 << 10;

/// Adds a line; a log that cannot be written is no reason to keep a desk from ending.
pub(super) fn record(home: &Home, desk: &str, what: &str) {
    let dir = home.logs_dir();
    let file = dir.join("desks.log");
    if dirs::private(&dir).is_err() {
        return;
    }
    if fs::metadata(&file).is_ok_and(|meta| meta.len() > MAX_BYTES) {
        let _ = fs::rename(&file, dir.join("desks.log.1"));
    }
    let line = json!({ "at": now(), "desk": desk, "what": what });
    let _ = File::options().create(true).append(true).open(&file).and_then(|mut f| writeln!(f, "{line}"));
}
