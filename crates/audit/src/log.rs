//! The log: one writer, append only.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::fs::{FlockOperation, flock};
use serde_json::Value;

use crate::chain::{Head, extend};
use crate::record::{Kind, Record};
use crate::tail;

/// Largest record; one that is larger loses its arguments.
pub const MAX_RECORD_BYTES: usize = 64 * 1024;
/// A record reaches the disk at most about this long after it was appended.
pub const GROUP_COMMIT: Duration = Duration::from_millis(50);
/// Largest line: a record and what is around it.
pub(crate) const MAX_LINE_BYTES: usize = MAX_RECORD_BYTES + 512;

/// Why a log cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// It cannot be read or written.
    #[error("{path}: {source}")]
    Io {
        /// The log.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Another process writes it.
    #[error("{path}: another process writes this log")]
    Held {
        /// The log.
        path: PathBuf,
    },
    /// Its end is not what was written.
    #[error("{path}: {what}; move the file aside to begin a new log, and find out who did it")]
    Tampered {
        /// The log.
        path: PathBuf,
        /// What is wrong.
        what: String,
    },
}

/// An append-only log of records. Shared between threads by reference.
pub struct Log {
    shared: Arc<Shared>,
    syncer: Option<JoinHandle<()>>,
}

struct Shared {
    file: File,
    state: Mutex<State>,
    wake: Condvar,
}

struct State {
    head: Head,
    size: u64,
    dirty: bool,
    closing: bool,
    /// Half a line may stand at the end, which could not be cut off yet.
    ragged: bool,
    /// A sync that went wrong behind the back of whoever appended; told to the next.
    failed: Option<io::Error>,
}

impl Log {
    /// Opens or creates the log with mode 0600 and locks it. A last line torn by a crash is moved to
    /// `<name>.torn-<milliseconds>`, and a record notes that.
    pub fn open(path: &Path) -> Result<Self, OpenError> {
        let wrong = |source| OpenError::Io { path: path.to_owned(), source };
        let file =
            OpenOptions::new().read(true).append(true).create(true).mode(0o600).open(path).map_err(wrong)?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {}
            Err(rustix::io::Errno::WOULDBLOCK) => return Err(OpenError::Held { path: path.to_owned() }),
            Err(error) => return Err(wrong(error.into())),
        }
        file.set_permissions(std::fs::Permissions::from_mode(0o600)).map_err(wrong)?;
        let tail = tail::read(&file)
            .map_err(wrong)?
            .map_err(|what| OpenError::Tampered { path: path.to_owned(), what })?;
        let mended = if tail.torn.is_empty() { None } else { Some(mend(path, &file, &tail).map_err(wrong)?) };
        let state = State {
            head: tail.head,
            size: tail.torn_at,
            dirty: false,
            closing: false,
            ragged: false,
            failed: None,
        };
        let shared = Arc::new(Shared { file, state: Mutex::new(state), wake: Condvar::new() });
        let worker = Arc::clone(&shared);
        let syncer = std::thread::Builder::new()
            .name("audit-sync".to_owned())
            .stack_size(128 * 1024)
            .spawn(move || worker.sync_in_groups())
            .map_err(wrong)?;
        let log = Self { shared, syncer: Some(syncer) };
        if let Some(note) = mended {
            log.append(&note).map_err(wrong)?;
        }
        Ok(log)
    }

    /// Appends a record with one write and returns its number. It is in the file when this returns,
    /// and on the disk within about [`GROUP_COMMIT`]; [`Log::sync`] waits for that.
    ///
    /// On an error nothing was appended, and the chain goes on where it was.
    pub fn append(&self, record: &Record) -> io::Result<u64> {
        let text = bounded(record)?;
        let mut state = self.shared.lock();
        if let Some(error) = state.failed.take() {
            return Err(error);
        }
        if state.ragged {
            self.shared.file.set_len(state.size)?;
            state.ragged = false;
        }
        let (line, head) = extend(&state.head, &text);
        let written = (&self.shared.file).write(&line);
        if !matches!(written, Ok(count) if count == line.len()) {
            // Half a line (full disk) must not stay: the next one would be glued to it.
            state.ragged = self.shared.file.set_len(state.size).is_err();
            return Err(written.err().unwrap_or_else(|| io::Error::from(io::ErrorKind::StorageFull)));
        }
        state.size += line.len() as u64;
        state.head = head;
        let seq = state.head.seq;
        if !state.dirty {
            state.dirty = true;
            self.shared.wake.notify_one();
        }
        Ok(seq)
    }

    /// Waits until everything appended is on the disk.
    pub fn sync(&self) -> io::Result<()> {
        self.shared.lock().dirty = false;
        self.shared.file.sync_data()?;
        match self.shared.lock().failed.take() {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }

    /// The end of the chain: keep it elsewhere to be able to show that nothing was cut off.
    #[must_use]
    pub fn head(&self) -> Head {
        self.shared.lock().head.clone()
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        self.shared.lock().closing = true;
        self.shared.wake.notify_all();
        if let Some(syncer) = self.syncer.take() {
            let _ = syncer.join();
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Many records, one sync. Sleeps without waking up while nothing is appended.
    fn sync_in_groups(&self) {
        let mut state = self.lock();
        loop {
            while !state.dirty && !state.closing {
                state = self.wake.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
            if !state.closing {
                state = self.wake.wait_timeout(state, GROUP_COMMIT).unwrap_or_else(PoisonError::into_inner).0;
            }
            let closing = state.closing;
            if state.dirty {
                state.dirty = false;
                drop(state);
                // Outside the lock: appending goes on meanwhile.
                let synced = self.file.sync_data();
                state = self.lock();
                if let Err(error) = synced {
                    state.failed = Some(error);
                }
            }
            if closing {
                return;
            }
        }
    }
}

/// The record as text. Arguments that make it too large are replaced by their size.
fn bounded(record: &Record) -> io::Result<String> {
    let text = serde_json::to_string(record)?;
    if text.len() <= MAX_RECORD_BYTES {
        return Ok(text);
    }
    let size = record.args.as_ref().map_or(0, |args| args.to_string().len());
    let cut = Record { args: Some(Value::String(format!("[CUT len={size}]"))), ..record.clone() };
    let text = serde_json::to_string(&cut)?;
    if text.len() <= MAX_RECORD_BYTES {
        return Ok(text);
    }
    Err(io::Error::new(
        io::ErrorKind::InvalidInput,
        format!(
            "the record takes {} bytes even without its args, the limit is {MAX_RECORD_BYTES}",
            text.len()
        ),
    ))
}

/// Moves the torn line aside and cuts it off; gives the record that says so.
fn mend(path: &Path, file: &File, tail: &tail::Tail) -> io::Result<Record> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let now = u64::try_from(now.as_millis()).unwrap_or(u64::MAX);
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".torn-{now}"));
    let aside = path.with_file_name(&name);
    let mut torn = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&aside)?;
    torn.write_all(&tail.torn)?;
    torn.sync_all()?;
    file.set_len(tail.torn_at)?;
    let mut note = Record::new(now, Kind::Note);
    note.note = Some(format!(
        "the last line was torn ({} bytes); it was moved to {}",
        tail.torn.len(),
        name.to_string_lossy()
    ));
    Ok(note)
}
