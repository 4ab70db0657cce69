//! The log as its owner and its enemies use it.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should say where")]

use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use deskhand_audit::{Head, Kind, Log, MAX_RECORD_BYTES, OpenError, Record, What, verify, verify_against};
use deskhand_protocol::{ErrorCode, RequestId};
use serde_json::json;

fn record(n: u64) -> Record {
    let mut record = Record::new(1000 + n, Kind::CallDone);
    record.request_id = Some(RequestId(format!("req-{n}")));
    record.tool = Some("click".to_owned());
    record.args = Some(json!({"x": n, "label": "保存 \"quoted\" \u{7f}"}));
    record.error = n.is_multiple_of(2).then_some(ErrorCode::Timeout);
    record
}

struct Place {
    _folder: tempfile::TempDir,
    path: PathBuf,
}

/// A log of `count` records.
fn log_of(count: u64) -> Place {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.jsonl");
    let log = Log::open(&path).unwrap();
    for n in 1..=count {
        assert_eq!(log.append(&record(n)).unwrap(), n);
    }
    Place { _folder: folder, path }
}

fn lines(path: &Path) -> Vec<String> {
    std::fs::read_to_string(path).unwrap().lines().map(|line| format!("{line}\n")).collect()
}

fn fault(path: &Path) -> Option<(u64, What)> {
    verify(path).unwrap().fault.map(|fault| (fault.line, fault.what))
}

#[test]
fn records_read_back_and_the_chain_goes_on_after_reopening() {
    let place = log_of(3);
    assert_eq!(std::fs::metadata(&place.path).unwrap().permissions().mode() & 0o777, 0o600);
    let log = Log::open(&place.path).unwrap();
    assert_eq!(log.append(&record(4)).unwrap(), 4);
    log.sync().unwrap();
    let report = verify(&place.path).unwrap();
    assert_eq!((report.good, report.fault, report.head), (4, None, log.head()));
    for (n, line) in lines(&place.path).iter().enumerate() {
        let value: serde_json::Value = serde_json::from_str(line).unwrap();
        let back: Record = serde_json::from_value(value["record"].clone()).unwrap();
        assert_eq!(back, record(n as u64 + 1));
    }
}

#[test]
fn every_flipped_byte_is_found() {
    let place = log_of(4);
    let good = std::fs::read(&place.path).unwrap();
    assert_eq!(fault(&place.path), None);
    for at in 0..good.len() {
        for bit in [0x01, 0x20, 0x80] {
            let mut bad = good.clone();
            bad[at] ^= bit;
            std::fs::write(&place.path, &bad).unwrap();
            let line = 1 + good[..at].iter().filter(|byte| **byte == b'\n').count() as u64;
            let found = fault(&place.path).unwrap_or_else(|| panic!("byte {at} ^ {bit:#x} went unnoticed"));
            assert!(found.0 == line, "byte {at} ^ {bit:#x}: line {line}, found {found:?}");
        }
    }
}

#[test]
fn every_removed_and_every_added_byte_is_found() {
    let place = log_of(3);
    let good = std::fs::read(&place.path).unwrap();
    for at in 0..good.len() {
        let mut shorter = good.clone();
        shorter.remove(at);
        std::fs::write(&place.path, &shorter).unwrap();
        assert!(fault(&place.path).is_some(), "removed {at}");
        for byte in *b" 0\n" {
            let mut longer = good.clone();
            longer.insert(at, byte);
            std::fs::write(&place.path, &longer).unwrap();
            assert!(fault(&place.path).is_some(), "added {byte} at {at}");
        }
    }
}

#[test]
fn deleted_moved_and_repeated_lines_are_told_apart() {
    let place = log_of(5);
    let good = lines(&place.path);
    let pick = |order: &[usize]| order.iter().map(|n| good[n - 1].as_str()).collect::<String>();
    type Case<'a> = (&'a [usize], Option<(u64, What)>);
    let cases: &[Case<'_>] = &[
        (&[1, 2, 3, 4, 5], None),
        (&[], None),
        (&[2, 3, 4, 5], Some((1, What::TruncatedHead))),
        (&[5], Some((1, What::TruncatedHead))),
        (&[1, 3, 4, 5], Some((2, What::Deleted))),
        (&[1, 2, 5], Some((3, What::Deleted))),
        (&[1, 3, 2, 4, 5], Some((2, What::Reordered))),
        (&[1, 2, 2, 3, 4, 5], Some((3, What::Reordered))),
        (&[1, 2, 3, 1, 4, 5], Some((4, What::Reordered))),
    ];
    for (order, want) in cases {
        std::fs::write(&place.path, pick(order)).unwrap();
        assert_eq!(fault(&place.path), *want, "{order:?}");
    }
    // A line of another log, well made, in the place of ours.
    let other = log_of(1);
    let log = Log::open(&other.path).unwrap();
    log.append(&record(77)).unwrap();
    let foreign = lines(&other.path)[1].clone();
    std::fs::write(&place.path, [&good[0], &foreign, &good[2]].map(String::as_str).concat()).unwrap();
    assert!(
        matches!(fault(&place.path), Some((3, What::Changed))),
        "it follows line 1, line 3 does not follow it"
    );
}

#[test]
fn a_cut_off_end_is_found_with_a_head_kept_elsewhere() {
    let place = log_of(5);
    let head = verify(&place.path).unwrap().head;
    let good = lines(&place.path);
    let what = |path: &Path, head: &Head| verify_against(path, head).unwrap().fault.map(|fault| fault.what);
    assert_eq!(what(&place.path, &head), None);
    assert_eq!(what(&place.path, &Head::start()), None);
    Log::open(&place.path).unwrap().append(&record(6)).unwrap();
    assert_eq!(what(&place.path, &head), None, "it may have grown");
    std::fs::write(&place.path, good[..3].concat()).unwrap();
    assert_eq!(fault(&place.path), None, "the chain alone does not show it");
    assert_eq!(what(&place.path, &head), Some(What::TruncatedTail));
    // Written anew, longer than before.
    let anew = log_of(0);
    let log = Log::open(&anew.path).unwrap();
    for n in 10..20 {
        log.append(&record(n)).unwrap();
    }
    assert_eq!(what(&anew.path, &head), Some(What::Changed));
}

#[test]
fn a_torn_line_is_moved_aside_and_noted() {
    let whole = std::fs::read(log_of(3).path).unwrap();
    let two = whole.iter().enumerate().filter(|(_, byte)| **byte == b'\n').nth(1).unwrap().0 + 1;
    // Cut anywhere inside the third line, and a block of zeros as some file systems leave it.
    let torn: Vec<Vec<u8>> = [two + 1, two + 40, whole.len() - 1]
        .iter()
        .map(|end| whole[..*end].to_vec())
        .chain([[&whole[..two], &[0; 512][..]].concat()])
        .collect();
    for bytes in torn {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("audit.jsonl");
        std::fs::write(&path, &bytes).unwrap();
        assert_eq!(fault(&path), Some((3, What::Torn)));
        let log = Log::open(&path).unwrap();
        assert_eq!(log.append(&record(9)).unwrap(), 4);
        assert_eq!(fault(&path), None);
        assert!(lines(&path)[2].contains("was torn"));
        let aside: Vec<_> = std::fs::read_dir(folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|found| found.to_string_lossy().contains("audit.jsonl.torn-"))
            .collect();
        assert_eq!(aside.len(), 1);
        assert_eq!(std::fs::read(&aside[0]).unwrap(), &bytes[two..]);
    }
    // Nothing but a torn first line.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.jsonl");
    std::fs::write(&path, "{\"seq\":1,").unwrap();
    drop(Log::open(&path).unwrap());
    assert_eq!(verify(&path).unwrap().good, 1);
}

#[test]
fn a_tampered_end_and_a_second_writer_are_refused() {
    let place = log_of(2);
    let good = std::fs::read_to_string(&place.path).unwrap();
    std::fs::write(&place.path, good.replace("req-2", "req-9")).unwrap();
    assert!(matches!(Log::open(&place.path), Err(OpenError::Tampered { .. })));
    std::fs::write(
        &place.path,
        [&lines(&log_of(3).path)[0], &lines(&log_of(3).path)[2]].map(String::as_str).concat(),
    )
    .unwrap();
    assert!(matches!(Log::open(&place.path), Err(OpenError::Tampered { .. })));
    std::fs::write(&place.path, good).unwrap();
    let _log = Log::open(&place.path).unwrap();
    assert!(matches!(Log::open(&place.path), Err(OpenError::Held { .. })));
}

#[test]
fn eight_threads_keep_the_chain() {
    let place = log_of(0);
    let log = Log::open(&place.path).unwrap();
    let mut numbers: Vec<u64> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|_| scope.spawn(|| (0..500).map(|n| log.append(&record(n)).unwrap()).collect::<Vec<_>>()))
            .collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    numbers.sort_unstable();
    assert!(numbers.into_iter().eq(1..=4000));
    assert_eq!(verify(&place.path).unwrap().good, 4000);
}

#[test]
fn a_record_too_large_loses_its_args_or_is_refused() {
    let place = log_of(1);
    let log = Log::open(&place.path).unwrap();
    let mut large = record(2);
    large.args = Some(json!(vec!["0123456789"; 10_000]));
    log.append(&large).unwrap();
    assert!(lines(&place.path)[1].contains("[CUT len=130001]"), "{}", lines(&place.path)[1]);
    large.note = Some("x".repeat(MAX_RECORD_BYTES));
    assert!(log.append(&large).is_err());
    log.append(&record(3)).unwrap();
    assert_eq!(verify(&place.path).unwrap().good, 3);
    assert_eq!(fault(&place.path), None);
}

#[test]
fn a_full_disk_leaves_a_good_log() {
    // A file size limit acts as a full disk does: the write comes back short.
    let place = log_of(1);
    let script = "trap '' XFSZ; ulimit -f 1; exec \"$0\" --exact child_fills_the_disk --nocapture";
    let out = std::process::Command::new("bash")
        .args(["-c", script])
        .arg(std::env::current_exe().unwrap())
        .env("AUDIT_TEST_LOG", &place.path)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&out.stdout);
    assert!(
        out.status.success() && text.contains("refused"),
        "{text} {}",
        String::from_utf8_lossy(&out.stderr)
    );
    assert_eq!(fault(&place.path), None);
    Log::open(&place.path).unwrap().append(&record(9)).unwrap();
    assert_eq!(fault(&place.path), None);
}

/// Runs in a child only.
#[test]
fn child_fills_the_disk() {
    let Some(path) = std::env::var_os("AUDIT_TEST_LOG") else { return };
    let log = Log::open(path.as_ref()).unwrap();
    let refused = (0..100).filter(|n| log.append(&record(*n)).is_err()).count();
    if refused > 0 {
        let _ = writeln!(std::io::stdout(), "refused {refused}");
    }
}
