//! Answers on their way to one client. A client that does not read holds up nobody but itself.
//!
//! There is no writer thread of its own: whoever adds an answer while nobody writes becomes the
//! writer until the queue is empty. A quick client is thus answered by the thread that did the
//! work, without a hand-over; a slow one occupies at most one thread, until it stalls too long.

use std::collections::VecDeque;
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::io::Errno;
use rustix::net::SendFlags;

use crate::limits::Limits;

/// Why a connection was closed from our side while sending.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Slow {
    /// More waited than may wait.
    Full { bytes: usize, messages: usize },
    /// Not a byte was read for the stall time.
    Stalled { bytes: usize },
}

pub(crate) struct Outgoing {
    socket: UnixStream,
    state: Mutex<State>,
    most_bytes: usize,
    most_messages: usize,
}

#[derive(Default)]
struct State {
    queue: VecDeque<Vec<u8>>,
    /// Bytes in the queue and in the writer's hands.
    bytes: usize,
    writing: bool,
    /// No answer is taken any more; what waits is still written.
    finishing: bool,
    /// Nothing is written any more.
    closed: bool,
}

impl Outgoing {
    /// The stream's write timeout is set to the stall time.
    pub(crate) fn new(socket: UnixStream, limits: &Limits) -> std::io::Result<Self> {
        socket.set_write_timeout(Some(limits.stall))?;
        Ok(Self {
            socket,
            state: Mutex::default(),
            most_bytes: limits.queue_bytes,
            most_messages: limits.queue_messages,
        })
    }

    /// Sends a line, or queues it behind the one being sent. `Err` once, when this closed the
    /// connection of a slow client; a connection that is closed already swallows the line.
    pub(crate) fn send(&self, line: Vec<u8>) -> Result<(), Slow> {
        let mut state = self.lock();
        if state.closed || state.finishing {
            return Ok(());
        }
        if state.bytes > 0
            && (state.bytes + line.len() > self.most_bytes || state.queue.len() >= self.most_messages)
        {
            let slow = Slow::Full { bytes: state.bytes, messages: state.queue.len() };
            self.close_locked(&mut state);
            return Err(slow);
        }
        state.bytes += line.len();
        state.queue.push_back(line);
        if state.writing {
            return Ok(());
        }
        state.writing = true;
        self.write_all(state)
    }

    /// Takes no more answers; closes when what waits is written.
    pub(crate) fn finish(&self) {
        let mut state = self.lock();
        state.finishing = true;
        if !state.writing {
            self.close_locked(&mut state);
        }
    }

    /// Closes now.
    pub(crate) fn close(&self) {
        self.close_locked(&mut self.lock());
    }

    /// Whether everything was written.
    pub(crate) fn is_flushed(&self) -> bool {
        let state = self.lock();
        state.closed || state.bytes == 0
    }

    fn write_all<'a>(&'a self, mut state: MutexGuard<'a, State>) -> Result<(), Slow> {
        let mut result = Ok(());
        while let Some(line) = state.queue.pop_front() {
            drop(state);
            let written = self.write(&line);
            state = self.lock();
            state.bytes = state.bytes.saturating_sub(line.len());
            if let Err(errno) = written {
                if errno == Errno::AGAIN && !state.closed {
                    result = Err(Slow::Stalled { bytes: state.bytes + line.len() });
                }
                self.close_locked(&mut state);
            }
        }
        state.writing = false;
        if state.finishing {
            self.close_locked(&mut state);
        }
        result
    }

    /// Blocks at most the stall time without progress.
    fn write(&self, line: &[u8]) -> Result<(), Errno> {
        let mut rest = line;
        while !rest.is_empty() {
            match rustix::net::send(&self.socket, rest, SendFlags::NOSIGNAL) {
                Ok(0) => return Err(Errno::PIPE),
                Ok(sent) => rest = &rest[sent..],
                Err(Errno::INTR) => {}
                Err(errno) => return Err(errno),
            }
        }
        Ok(())
    }

    fn close_locked(&self, state: &mut State) {
        if !state.closed {
            state.closed = true;
            // Wakes the reader and a writer that blocks.
            let _ = self.socket.shutdown(Shutdown::Both);
        }
        state.queue.clear();
        state.bytes = 0;
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;
    use std::sync::Arc;
    use std::time::Duration;

    fn pair(limits: &Limits) -> (Arc<Outgoing>, UnixStream) {
        let (ours, theirs) = UnixStream::pair().unwrap();
        (Arc::new(Outgoing::new(ours, limits).unwrap()), theirs)
    }

    #[test]
    fn lines_of_many_threads_arrive_whole() {
        let (out, mut theirs) = pair(&Limits::default());
        let threads: Vec<_> = (0..8u8)
            .map(|n| {
                let out = Arc::clone(&out);
                std::thread::spawn(move || {
                    for _ in 0..50 {
                        let mut line = vec![b'a' + n; 20_000];
                        line.push(b'\n');
                        out.send(line).unwrap();
                    }
                })
            })
            .collect();
        let reader = std::thread::spawn(move || {
            let mut all = Vec::new();
            theirs.read_to_end(&mut all).unwrap();
            all
        });
        for thread in threads {
            thread.join().unwrap();
        }
        out.finish();
        let all = reader.join().unwrap();
        let lines: Vec<_> = all.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).collect();
        assert_eq!(lines.len(), 400);
        assert!(lines.iter().all(|line| line.len() == 20_000 && line.iter().all(|byte| *byte == line[0])));
    }

    #[test]
    fn who_does_not_read_is_cut_off() {
        let limits = Limits { queue_bytes: 1_000_000, stall: Duration::from_secs(60), ..Limits::default() };
        let (out, theirs) = pair(&limits);
        let writer = Arc::clone(&out);
        let first = std::thread::spawn(move || writer.send(vec![b'x'; 900_000]));
        // Whoever comes first writes, and blocks: that must not be this thread.
        while !out.lock().writing {
            std::thread::yield_now();
        }
        let mut slow = None;
        for _ in 0..1000 {
            if let Err(found) = out.send(vec![b'y'; 100_000]) {
                slow = Some(found);
                break;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        assert!(matches!(slow, Some(Slow::Full { .. })), "{slow:?}");
        assert_eq!(first.join().unwrap(), Ok(()), "the blocked writer was woken");
        assert!(out.is_flushed());
        drop(theirs);

        let (out, _theirs) = pair(&Limits { stall: Duration::from_millis(50), ..Limits::default() });
        assert!(matches!(out.send(vec![b'x'; 4_000_000]), Err(Slow::Stalled { .. })));
        assert_eq!(out.send(vec![b'x']), Ok(()), "said once");
    }
}
