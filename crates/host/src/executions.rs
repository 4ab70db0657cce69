//! Everything that runs or waits, so that it can be asked about and aborted.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use deskhand_platform::CancelToken;
use deskhand_protocol::{ExecutionId, ExecutionInfo, ExecutionState, RequestId};

/// How many ended executions can still be asked about.
const REMEMBERED: usize = 256;

struct Entry {
    request_id: RequestId,
    tool: String,
    caller: String,
    state: ExecutionState,
    cancel: CancelToken,
    since: Instant,
}

#[derive(Default)]
struct Inner {
    live: HashMap<ExecutionId, Entry>,
    ended: VecDeque<ExecutionInfo>,
}

/// The book of executions.
#[derive(Default)]
pub(crate) struct Executions {
    inner: Mutex<Inner>,
    changed: Condvar,
}

/// Ends its execution when dropped.
pub(crate) struct Execution {
    pub(crate) id: ExecutionId,
    pub(crate) cancel: CancelToken,
    book: Arc<Executions>,
}

impl Executions {
    /// Opens an execution.
    pub(crate) fn open(self: &Arc<Self>, request_id: &RequestId, tool: &str, caller: &str) -> Execution {
        let (id, cancel) = (ExecutionId::fresh(), CancelToken::new());
        let entry = Entry {
            request_id: request_id.clone(),
            tool: tool.to_owned(),
            caller: caller.to_owned(),
            state: ExecutionState::Queued,
            cancel: cancel.clone(),
            since: Instant::now(),
        };
        self.lock().live.insert(id.clone(), entry);
        Execution { id, cancel, book: Arc::clone(self) }
    }

    /// What runs and waits, oldest first; with an id (of the execution or the request) only that
    /// one, ended ones too.
    pub(crate) fn list(&self, only: Option<&str>) -> Vec<ExecutionInfo> {
        let inner = self.lock();
        let mut all: Vec<ExecutionInfo> = inner.live.iter().map(|(id, e)| info(id, e)).collect();
        all.sort_by(|a, b| a.execution_id.cmp(&b.execution_id));
        if let Some(id) = only {
            all.extend(inner.ended.iter().cloned());
            all.retain(|e| e.execution_id.0 == id || e.request_id.0 == id);
        }
        all
    }

    /// Cancels one by the id of the execution or the request, or all; the ids that were cancelled.
    pub(crate) fn cancel(&self, only: Option<&str>) -> Vec<ExecutionId> {
        let mut inner = self.lock();
        let mut cancelled = Vec::new();
        for (id, entry) in &mut inner.live {
            if only.is_none_or(|o| id.0 == o || entry.request_id.0 == o) {
                entry.state = ExecutionState::Aborting;
                entry.cancel.cancel();
                cancelled.push(id.clone());
            }
        }
        cancelled
    }

    /// Waits until none of these lives; true when so.
    pub(crate) fn wait_gone(&self, ids: &[ExecutionId], time: Duration) -> bool {
        let until = Instant::now() + time;
        let mut inner = self.lock();
        loop {
            if ids.iter().all(|id| !inner.live.contains_key(id)) {
                return true;
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            inner = self.changed.wait_timeout(inner, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Execution {
    /// Its turn has come.
    pub(crate) fn running(&self) {
        if let Some(entry) = self.book.lock().live.get_mut(&self.id)
            && entry.state == ExecutionState::Queued
        {
            entry.state = ExecutionState::Running;
        }
    }
}

impl Drop for Execution {
    fn drop(&mut self) {
        let mut inner = self.book.lock();
        if let Some(entry) = inner.live.remove(&self.id) {
            if inner.ended.len() >= REMEMBERED {
                inner.ended.pop_front();
            }
            inner.ended.push_back(ExecutionInfo { state: ExecutionState::Done, ..info(&self.id, &entry) });
        }
        drop(inner);
        self.book.changed.notify_all();
    }
}

fn info(id: &ExecutionId, e: &Entry) -> ExecutionInfo {
    ExecutionInfo {
        execution_id: id.clone(),
        request_id: e.request_id.clone(),
        tool: e.tool.clone(),
        state: e.state,
        age_ms: u64::try_from(e.since.elapsed().as_millis()).unwrap_or(u64::MAX),
        caller: e.caller.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_execution_can_be_found_cancelled_and_asked_about_afterwards() {
        let book = Arc::new(Executions::default());
        let run = book.open(&"req-a".into(), "type_text", "me");
        run.running();
        assert_eq!(book.list(Some("req-a"))[0].state, ExecutionState::Running);
        assert_eq!(book.cancel(Some("req-a")), vec![run.id.clone()]);
        assert!(run.cancel.is_cancelled());
        assert_eq!(book.list(Some(run.id.as_str()))[0].state, ExecutionState::Aborting);
        assert!(!book.wait_gone(std::slice::from_ref(&run.id), Duration::from_millis(5)));
        let id = run.id.clone();
        drop(run);
        assert!(book.wait_gone(std::slice::from_ref(&id), Duration::from_millis(5)));
        assert!(book.list(None).is_empty());
        assert_eq!(book.list(Some(id.as_str()))[0].state, ExecutionState::Done);
    }

    #[test]
    fn a_stranger_is_not_cancelled() {
        let book = Arc::new(Executions::default());
        let run = book.open(&"req-a".into(), "t", "me");
        assert!(book.cancel(Some("req-b")).is_empty());
        assert!(!run.cancel.is_cancelled());
    }
}
