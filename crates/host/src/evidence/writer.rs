//! One thread that encodes and writes what need not hold an answer back.

use std::io;
use std::sync::mpsc::{SyncSender, sync_channel};

type Job = Box<dyn FnOnce() + Send>;

/// How many jobs may wait; when it is full, the caller waits (the disk sets the pace).
const QUEUE: usize = 32;

/// Hands jobs to the writing thread.
#[derive(Clone)]
pub(super) struct Writer {
    jobs: SyncSender<Job>,
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
        Ok(Self { jobs })
    }

    pub(super) fn send(&self, job: Job) {
        // The thread lives as long as the process; should it be gone, the job is done here.
        if let Err(back) = self.jobs.send(job) {
            (back.0)();
        }
    }
}
