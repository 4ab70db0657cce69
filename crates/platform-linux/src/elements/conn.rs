//! One D-Bus connection that keeps many calls in flight.
//!
//! Why not zbus here: a dump is thousands of tiny calls, and every wait needs a deadline without an async
//! runtime. (Not measured side by side with zbus.) This client writes a whole window of them in
//! one `write`, a reader thread sorts the answers into a vector by serial, and the waiter wakes once
//! per window. Every wait has a deadline and sees cancellation; nothing is async.

use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixStream};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::wire::{self, Args, Call, Incoming, Reader};
use deskhand_platform::CancelToken;

/// Locks, also after a panic elsewhere: what we guard is never left half-written.
pub(super) fn lock<T>(m: &Mutex<T>) -> MutexGuard<'_, T> {
    m.lock().unwrap_or_else(PoisonError::into_inner)
}

/// An answer.
#[derive(Clone, Debug, Default)]
pub(super) struct Reply {
    /// The D-Bus error name and message, when it is an error.
    pub(super) error: Option<(String, String)>,
    pub(super) sig: String,
    big: bool,
    body: Vec<u8>,
}

impl Reply {
    /// A reader over the values; `None` for an error.
    pub(super) fn ok(&self) -> Option<Reader<'_>> {
        self.error.is_none().then(|| Reader::new(&self.body, self.big))
    }
}

/// Until when to wait, and when to give up on a partner that has gone silent.
#[derive(Clone)]
pub(super) struct Patience {
    pub(super) deadline: Instant,
    /// Longest time without a single answer.
    pub(super) silence: Duration,
    pub(super) cancel: CancelToken,
}

/// Why a batch ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    Complete,
    Deadline,
    Silent,
    Cancelled,
    Dead,
}

#[derive(Default)]
struct Slots {
    replies: Vec<Option<Reply>>,
    done: usize,
    wake_at: usize,
}

#[derive(Default)]
struct Batch {
    slots: Mutex<Slots>,
    woken: Condvar,
}

struct Shared {
    /// Batches under way: first serial, how many, where the answers go. A handful at most.
    pending: Mutex<Vec<(u32, u32, Arc<Batch>)>>,
    dead: AtomicBool,
}

/// Called by the reader thread for every message before its answer is handed over, so that events are
/// noted before a reply that was sent after them; with `None` when the connection ended.
pub(super) type Observer = Box<dyn Fn(Option<&Incoming<'_>>) + Send>;

/// A connection.
pub(super) struct Conn {
    writer: Mutex<UnixStream>,
    shared: Arc<Shared>,
    serial: AtomicU32,
}

impl Drop for Conn {
    fn drop(&mut self) {
        // Ends the reader thread.
        let _ = lock(&self.writer).shutdown(Shutdown::Both);
    }
}

fn open(address: &str) -> io::Result<UnixStream> {
    let mut last =
        io::Error::new(io::ErrorKind::Unsupported, format!("no unix socket in address {address:?}"));
    for one in address.split(';') {
        let Some(keys) = one.strip_prefix("unix:") else { continue };
        for key in keys.split(',') {
            let made = if let Some(path) = key.strip_prefix("path=") {
                UnixStream::connect(unescape(path))
            } else if let Some(name) = key.strip_prefix("abstract=") {
                SocketAddr::from_abstract_name(unescape(name).as_encoded_bytes())
                    .and_then(|a| UnixStream::connect_addr(&a))
            } else {
                continue;
            };
            match made {
                Ok(stream) => return Ok(stream),
                Err(e) => last = e,
            }
        }
    }
    Err(last)
}

/// Addresses escape bytes as `%xx`.
fn unescape(v: &str) -> std::ffi::OsString {
    use std::os::unix::ffi::OsStringExt;
    let mut out = Vec::with_capacity(v.len());
    let mut bytes = v.bytes();
    while let Some(b) = bytes.next() {
        if b == b'%' {
            let hex: Vec<u8> = bytes.by_ref().take(2).collect();
            let value = std::str::from_utf8(&hex).ok().and_then(|h| u8::from_str_radix(h, 16).ok());
            out.extend(value);
        } else {
            out.push(b);
        }
    }
    std::ffi::OsString::from_vec(out)
}

fn authenticate(stream: &mut UnixStream) -> io::Result<()> {
    let uid = rustix::process::getuid().as_raw().to_string();
    let hex: String = uid.bytes().map(|b| format!("{b:02x}")).collect();
    stream.write_all(format!("\0AUTH EXTERNAL {hex}\r\n").as_bytes())?;
    let mut line = Vec::new();
    let mut byte = [0u8];
    while !line.ends_with(b"\r\n") {
        if line.len() > 512 || stream.read(&mut byte)? == 0 {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "the bus ended the authentication"));
        }
        line.push(byte[0]);
    }
    if !line.starts_with(b"OK ") {
        let said = String::from_utf8_lossy(&line).trim().to_owned();
        return Err(io::Error::new(
            io::ErrorKind::PermissionDenied,
            format!("the bus refused this user: {said}"),
        ));
    }
    stream.write_all(b"BEGIN\r\n")
}

impl Conn {
    /// Connects and authenticates within `time`.
    pub(super) fn connect(address: &str, time: Duration, observer: Observer) -> io::Result<Self> {
        let mut stream = open(address)?;
        stream.set_read_timeout(Some(time.max(Duration::from_millis(1))))?;
        // A partner that does not read for this long while our buffer is full is as good as gone.
        stream.set_write_timeout(Some(Duration::from_millis(1000)))?;
        authenticate(&mut stream)?;
        stream.set_read_timeout(None)?;
        let shared = Arc::new(Shared { pending: Mutex::default(), dead: AtomicBool::new(false) });
        let (reader, side) = (stream.try_clone()?, Arc::clone(&shared));
        std::thread::Builder::new().name("ax-reader".into()).spawn(move || {
            read_all(reader, &side, &observer);
            side.dead.store(true, Ordering::Release);
            for (_, _, batch) in lock(&side.pending).drain(..) {
                let _slots = lock(&batch.slots);
                batch.woken.notify_all();
            }
            observer(None);
        })?;
        Ok(Self { writer: Mutex::new(stream), shared, serial: AtomicU32::new(1) })
    }

    /// Whether the other side is gone.
    pub(super) fn is_dead(&self) -> bool {
        self.shared.dead.load(Ordering::Acquire)
    }

    /// One call.
    pub(super) fn call(&self, call: Call<'_>, patience: &Patience) -> Result<Reply, Ended> {
        let (mut replies, ended) = self.batch(std::iter::once(call), 1, patience);
        replies.pop().flatten().ok_or(if ended == Ended::Complete { Ended::Dead } else { ended })
    }

    /// Makes all calls with at most `window` in flight. Answers come in the order of the calls; those
    /// that did not come are `None`, and why is said.
    pub(super) fn batch<'a>(
        &self,
        calls: impl ExactSizeIterator<Item = Call<'a>>,
        window: usize,
        patience: &Patience,
    ) -> (Vec<Option<Reply>>, Ended) {
        let total = calls.len();
        if total == 0 {
            return (Vec::new(), Ended::Complete);
        }
        let batch = Arc::new(Batch::default());
        lock(&batch.slots).replies.resize(total, None);
        let first = self.take_serials(total as u32);
        lock(&self.shared.pending).push((first, total as u32, Arc::clone(&batch)));
        let ended = self.run(calls, first, window.max(1), &batch, patience);
        lock(&self.shared.pending).retain(|(_, _, b)| !Arc::ptr_eq(b, &batch));
        let replies = std::mem::take(&mut lock(&batch.slots).replies);
        (replies, ended)
    }

    /// A run of serials without zero in it (zero is not allowed).
    fn take_serials(&self, n: u32) -> u32 {
        loop {
            let first = self.serial.fetch_add(n, Ordering::Relaxed);
            if first != 0 && first.checked_add(n).is_some() {
                return first;
            }
        }
    }

    fn run<'a>(
        &self,
        mut calls: impl ExactSizeIterator<Item = Call<'a>>,
        first: u32,
        window: usize,
        batch: &Batch,
        patience: &Patience,
    ) -> Ended {
        let total = calls.len();
        let (mut sent, mut buf) = (0usize, Vec::with_capacity(window.min(total) * 192));
        let mut done = 0;
        loop {
            if self.is_dead() {
                return Ended::Dead;
            }
            buf.clear();
            while sent < total && sent - done < window {
                let Some(call) = calls.next() else { break };
                wire::encode(&mut buf, &call, first.wrapping_add(sent as u32));
                sent += 1;
            }
            if !buf.is_empty() && lock(&self.writer).write_all(&buf).is_err() {
                // Half a message may be out: the stream cannot be used any more.
                self.kill();
                return Ended::Dead;
            }
            // Refill when half of the window is answered, so that the partner never runs dry.
            let target = if sent == total { total } else { done + window.div_ceil(2) };
            match self.wait(batch, target, patience) {
                Ok(now) if now >= total => return Ended::Complete,
                Ok(now) => done = now,
                Err(ended) => return ended,
            }
        }
    }

    fn wait(&self, batch: &Batch, target: usize, patience: &Patience) -> Result<usize, Ended> {
        let mut slots = lock(&batch.slots);
        slots.wake_at = target;
        let (mut seen, mut since) = (slots.done, Instant::now());
        loop {
            if slots.done >= target {
                return Ok(slots.done);
            }
            if self.is_dead() {
                return Err(Ended::Dead);
            }
            if patience.cancel.is_cancelled() {
                return Err(Ended::Cancelled);
            }
            let now = Instant::now();
            if slots.done != seen {
                (seen, since) = (slots.done, now);
            }
            let left = patience.deadline.saturating_duration_since(now);
            let quiet = (since + patience.silence).saturating_duration_since(now);
            if left.is_zero() {
                return Err(Ended::Deadline);
            }
            if quiet.is_zero() {
                return Err(Ended::Silent);
            }
            // Short slices: a cancelled scope is noticed within 20 ms.
            let slice = left.min(quiet).min(Duration::from_millis(20));
            slots = batch.woken.wait_timeout(slots, slice).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn kill(&self) {
        self.shared.dead.store(true, Ordering::Release);
        let _ = lock(&self.writer).shutdown(Shutdown::Both);
    }
}

fn read_all(mut stream: UnixStream, shared: &Shared, observer: &Observer) {
    const CHUNK: usize = 64 * 1024;
    let mut buf: Vec<u8> = Vec::new();
    let mut have = 0;
    loop {
        if buf.len() < have + CHUNK {
            buf.resize(have + CHUNK, 0);
        }
        match stream.read(&mut buf[have..]) {
            Ok(0) => return,
            Ok(n) => have += n,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
            Err(_) => return,
        }
        let mut at = 0;
        loop {
            match wire::message_len(&buf[at..have]) {
                Ok(Some(len)) if at + len <= have => {
                    let m = wire::decode(&buf[at..at + len]);
                    observer(Some(&m));
                    deliver(shared, &m);
                    at += len;
                }
                Ok(Some(len)) => {
                    // A large answer: make room for all of it at once.
                    if buf.len() < at + len {
                        buf.resize(at + len, 0);
                    }
                    break;
                }
                Ok(None) => break,
                Err(_) => return,
            }
        }
        buf.copy_within(at..have, 0);
        have -= at;
        if have == 0 && buf.len() > 1024 * 1024 {
            buf = Vec::new();
        }
    }
}

fn deliver(shared: &Shared, m: &Incoming<'_>) {
    if m.kind != wire::RETURN && m.kind != wire::ERROR {
        return;
    }
    let found = lock(&shared.pending)
        .iter()
        .find(|(first, n, _)| m.reply_to.wrapping_sub(*first) < *n)
        .map(|(first, _, batch)| ((m.reply_to - first) as usize, Arc::clone(batch)));
    // An answer nobody waits for any more is dropped.
    let Some((index, batch)) = found else { return };
    let error = (m.kind == wire::ERROR).then(|| {
        let text = if m.sig.starts_with('s') { Reader::new(m.body, m.big).str() } else { "" };
        (m.error.to_owned(), text.to_owned())
    });
    let reply = Reply { error, sig: m.sig.to_owned(), big: m.big, body: m.body.to_vec() };
    let mut slots = lock(&batch.slots);
    if let Some(slot) = slots.replies.get_mut(index)
        && slot.replace(reply).is_none()
    {
        slots.done += 1;
        if slots.done >= slots.wake_at {
            batch.woken.notify_all();
        }
    }
}

/// The call without arguments, for short.
pub(super) fn plain<'a>(dest: Option<&'a str>, path: &'a str, iface: &'a str, member: &'a str) -> Call<'a> {
    Call { dest, path, iface, member, args: Args::default() }
}
