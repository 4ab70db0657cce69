//! The end of an existing log: whole, torn or tampered with.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use crate::chain::{Head, Line};
use crate::log::MAX_LINE_BYTES;

/// What the end of the file is.
pub(crate) struct Tail {
    /// The last whole line.
    pub(crate) head: Head,
    /// Where what follows it begins, and what that is: a line torn by a crash; empty when all is well.
    pub(crate) torn_at: u64,
    pub(crate) torn: Vec<u8>,
}

/// Looks at the last lines only: a long log does not make the host start late. `Ok(Err(why))` when
/// the last whole line is not what was written.
pub(crate) fn read(file: &File) -> io::Result<Result<Tail, String>> {
    let size = file.metadata()?.len();
    // Room for a torn line and two whole ones.
    let begin = size.saturating_sub(3 * MAX_LINE_BYTES as u64);
    let mut bytes = vec![0; usize::try_from(size - begin).unwrap_or(usize::MAX)];
    file.read_exact_at(&mut bytes, begin)?;
    let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    if whole == 0 && begin > 0 {
        return Ok(Err("its last lines are longer than any that is written".to_owned()));
    }
    let torn = bytes.split_off(whole);
    let torn_at = begin + whole as u64;
    bytes.pop();
    let mut lines = bytes.rsplit(|byte| *byte == b'\n');
    let last = match lines.next() {
        Some(line) if whole > 0 => line,
        _ => return Ok(Ok(Tail { head: Head::start(), torn_at, torn })),
    };
    let Some(line) = Line::parse(last).filter(Line::is_whole) else {
        return Ok(Err("its last line was changed".to_owned()));
    };
    let before = lines.next().filter(|_| line.seq > 1);
    if let Some(before) = before
        && let Some(before) = Line::parse(before)
        && (before.hash != line.prev || before.seq + 1 != line.seq)
    {
        return Ok(Err("its last two lines do not belong together".to_owned()));
    }
    Ok(Ok(Tail { head: Head { seq: line.seq, hash: line.hash.to_owned() }, torn_at, torn }))
}
