//! What one process has in flight, over all its connections.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use crate::lanes::Lanes;
use crate::limits::Limits;

/// A process that is connected, or was while something of it still runs.
pub(crate) struct Process {
    pub(crate) pid: u32,
    pub(crate) lanes: Lanes,
}

/// Those there are; one that has neither connection nor request is forgotten.
#[derive(Default)]
pub(crate) struct Processes {
    known: Mutex<HashMap<u32, Weak<Process>>>,
}

impl Processes {
    /// The same for each connection of a pid: who connects anew does not begin at zero.
    pub(crate) fn of(&self, pid: u32, limits: &Limits) -> Arc<Process> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|_, process| process.strong_count() > 0);
        if let Some(process) = known.get(&pid).and_then(Weak::upgrade) {
            return process;
        }
        let lanes = Lanes::new(limits.calls_per_process, limits.others_per_process);
        let process = Arc::new(Process { pid, lanes });
        known.insert(pid, Arc::downgrade(&process));
        process
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_known_as_long_as_anything_of_it_is_left() {
        let (processes, limits) = (Processes::default(), Limits::default());
        let one = processes.of(1, &limits);
        let two = processes.of(2, &limits);
        assert!(Arc::ptr_eq(&one, &processes.of(1, &limits)) && !Arc::ptr_eq(&one, &two));
        drop(one);
        let again = processes.of(2, &limits);
        assert!(Arc::ptr_eq(&two, &again));
        assert_eq!(processes.known.lock().unwrap().len(), 1);
    }
}
