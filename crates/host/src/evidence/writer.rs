//! One thread that encodes and writes what need not hold an answer back.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use deskhand_platform::Frame;
use deskhand_vision::{Format, Pixels};

type Job = Box<dyn FnOnce() + Send>;

/// How many jobs may wait; when it is full, the caller waits (the disk sets the pace).
const QUEUE: usize = 32;

/// Hands jobs to the writing thread.
#[derive(Clone)]
pub(super) struct Writer {
    jobs: SyncSender<Job>,
    last: Arc<Mutex<Option<Last>>>,
}

/// The picture written last. A screen that has not changed is the same buffer again, and its picture
/// is the same file again.
struct Last {
    pixels: Weak<Vec<u8>>,
    file: PathBuf,
}

impl Writer {
    pub(super) fn start() -> io::Result<Self> {
        let (jobs, inbox) = sync_channel::<Job>(QUEUE);
        std::thread::Builder::new().name("evidence".into()).spawn(move || {
            for job in inbox {
                // One bundle that fails must not end the writing of all others.
                let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(job));
            }
        })?;
        Ok(Self { jobs, last: Arc::default() })
    }

    /// Writes a frame as PNG.
    pub(super) fn picture(&self, frame: &Frame, file: &Path) -> io::Result<()> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = last.as_ref()
            && known.pixels.upgrade().is_some_and(|pixels| Arc::ptr_eq(&pixels, &frame.data))
            && std::fs::hard_link(&known.file, file).is_ok()
        {
            return Ok(());
        }
        let pixels = Pixels { data: &frame.data, size: frame.size };
        let bytes = deskhand_vision::encode(pixels, Format::Png).map_err(io::Error::other)?;
        super::write_file(file, &bytes)?;
        *last = Some(Last { pixels: Arc::downgrade(&frame.data), file: file.to_owned() });
        Ok(())
    }

    pub(super) fn send(&self, job: Job) {
        // The thread lives as long as the process; should it be gone, the job is done here.
        if let Err(back) = self.jobs.send(job) {
            (back.0)();
        }
    }
}
