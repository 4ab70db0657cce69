//! Is the log what was written?

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek};
use std::path::Path;

use crate::chain::{Head, Line};
use crate::log::MAX_LINE_BYTES;

/// What is wrong with a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// It does not read as it was written, or was put in the place of another.
    Changed,
    /// Lines before it are missing.
    Deleted,
    /// It stands at another place than it was written at.
    Reordered,
    /// The beginning of the log is missing.
    TruncatedHead,
    /// The end of the log is missing (only seen by [`verify_against`]).
    TruncatedTail,
    /// The last line has no end: a crash, or a writer at work.
    Torn,
}

/// The first thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Line in the file, from 1.
    pub line: u64,
    /// What is wrong.
    pub what: What,
    /// In words.
    pub detail: String,
}

/// What was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// Lines that are good, from the beginning on.
    pub good: u64,
    /// The end of the good part.
    pub head: Head,
    /// The first thing that is wrong; `None` when all is well.
    pub fault: Option<Fault>,
}

impl Report {
    /// Whether all is well.
    #[must_use]
    pub fn is_good(&self) -> bool {
        self.fault.is_none()
    }
}

/// Goes through the whole log, a line at a time.
pub fn verify(path: &Path) -> io::Result<Report> {
    let mut report = Report { good: 0, head: Head::start(), fault: None };
    let mut reader = BufReader::with_capacity(256 * 1024, File::open(path)?);
    let mut bytes = Vec::new();
    while next_line(&mut reader, &mut bytes)? {
        let number = report.good + 1;
        match judge(&report.head, number, &bytes) {
            Ok(head) => {
                report.head = head;
                report.good = number;
            }
            Err(mut fault) => {
                let missing = report.head.seq + 1;
                if fault.what == What::Deleted && occurs_later(&mut reader, missing)? {
                    fault.what = What::Reordered;
                    fault.detail = format!("record {missing} stands further down");
                }
                report.fault = Some(fault);
                break;
            }
        }
    }
    Ok(report)
}

/// As [`verify`], and the log must contain the end it had when `known` was kept.
pub fn verify_against(path: &Path, known: &Head) -> io::Result<Report> {
    let mut report = verify(path)?;
    if report.fault.is_some() || known.seq == 0 {
        return Ok(report);
    }
    let end = report.good + 1;
    if report.head.seq < known.seq {
        let detail = format!("the log ends with record {}, it once had {}", report.head.seq, known.seq);
        report.fault = Some(Fault { line: end, what: What::TruncatedTail, detail });
        return Ok(report);
    }
    let mut reader = BufReader::new(File::open(path)?);
    let mut bytes = Vec::new();
    let mut line = 0;
    while next_line(&mut reader, &mut bytes)? {
        line += 1;
        match Line::parse(trimmed(&bytes)) {
            Some(found) if found.seq == known.seq && found.hash == known.hash => return Ok(report),
            Some(found) if found.seq >= known.seq => break,
            _ => {}
        }
    }
    let detail = format!("record {} is another one than was kept: the log was written anew", known.seq);
    report.fault = Some(Fault { line, what: What::Changed, detail });
    Ok(report)
}

fn judge(head: &Head, number: u64, bytes: &[u8]) -> Result<Head, Fault> {
    let fault = |what, detail: String| Err(Fault { line: number, what, detail });
    let expected = head.seq + 1;
    if !bytes.ends_with(b"\n") {
        let what = if bytes.len() > MAX_LINE_BYTES { What::Changed } else { What::Torn };
        return fault(what, format!("record {expected} has no end"));
    }
    let Some(line) = Line::parse(trimmed(bytes)) else {
        return fault(What::Changed, format!("record {expected} is not a line of this log"));
    };
    if !line.is_whole() {
        return fault(What::Changed, format!("record {expected} does not have the hash it was written with"));
    }
    if line.seq > expected {
        let (first, last) = (expected, line.seq - 1);
        if expected == 1 {
            return fault(
                What::TruncatedHead,
                format!("records {first} to {last} at the beginning are missing"),
            );
        }
        return fault(What::Deleted, format!("records {first} to {last} are missing"));
    }
    if line.seq < expected {
        return fault(What::Reordered, format!("record {} stands again or too late", line.seq));
    }
    if line.prev != head.hash {
        return fault(What::Changed, format!("record {expected} does not follow the one before it"));
    }
    Ok(Head { seq: line.seq, hash: line.hash.to_owned() })
}

fn occurs_later(reader: &mut BufReader<File>, seq: u64) -> io::Result<bool> {
    let mut bytes = Vec::new();
    let at = reader.stream_position()?;
    let mut found = false;
    while !found && next_line(reader, &mut bytes)? {
        found = Line::parse(trimmed(&bytes)).is_some_and(|line| line.seq == seq && line.is_whole());
    }
    reader.seek(io::SeekFrom::Start(at))?;
    Ok(found)
}

/// Reads a line with its newline, at most a little more than any that is written.
fn next_line(reader: &mut BufReader<File>, bytes: &mut Vec<u8>) -> io::Result<bool> {
    bytes.clear();
    let count = reader.take(MAX_LINE_BYTES as u64 + 1).read_until(b'\n', bytes)?;
    Ok(count > 0)
}

fn trimmed(bytes: &[u8]) -> &[u8] {
    bytes.strip_suffix(b"\n").unwrap_or(bytes)
}
