//! The same thing is not told again and again: who knocks a thousand times a second must not fill
//! the audit log.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Things remembered.
const MAX_ENTRIES: usize = 256;

/// What was told, and how often it was kept back since.
pub(crate) struct Quiet<K> {
    every: Duration,
    state: Mutex<State<K>>,
}

struct State<K> {
    told: HashMap<K, Told>,
    /// Kept back under keys that are forgotten by now.
    forgotten: u64,
}

struct Told {
    at: Instant,
    kept_back: u64,
}

impl<K: Hash + Eq> Quiet<K> {
    /// Tells each thing once in `every`.
    pub(crate) fn new(every: Duration) -> Self {
        Self { every, state: Mutex::new(State { told: HashMap::new(), forgotten: 0 }) }
    }

    /// May this be told now? `Some` with the number of those kept back before it. When too many
    /// different things are remembered, new ones are kept back until some are old enough to be
    /// forgotten.
    pub(crate) fn may_tell(&self, key: K, now: Instant) -> Option<u64> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let State { told, forgotten } = &mut *state;
        if let Some(before) = told.get_mut(&key) {
            if now.saturating_duration_since(before.at) < self.every {
                before.kept_back += 1;
                return None;
            }
            before.at = now;
            return Some(std::mem::take(&mut before.kept_back) + std::mem::take(forgotten));
        }
        if told.len() >= MAX_ENTRIES {
            told.retain(|_, before| {
                let keep = now.saturating_duration_since(before.at) < self.every;
                if !keep {
                    *forgotten += before.kept_back;
                }
                keep
            });
        }
        if told.len() >= MAX_ENTRIES {
            *forgotten += 1;
            return None;
        }
        told.insert(key, Told { at: now, kept_back: 0 });
        Some(std::mem::take(forgotten))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn once_in_a_while_with_the_number_kept_back() {
        let minute = Duration::from_secs(60);
        let quiet = Quiet::new(minute);
        let start = Instant::now();
        let cases: &[(&str, u64, Option<u64>)] = &[
            ("a", 0, Some(0)),
            ("a", 1, None),
            ("b", 1, Some(0)),
            ("a", 59, None),
            ("a", 60, Some(2)),
            ("a", 61, None),
            ("a", 200, Some(1)),
        ];
        for (key, second, want) in cases {
            assert_eq!(quiet.may_tell(*key, start + Duration::from_secs(*second)), *want, "{key} {second}");
        }
    }

    #[test]
    fn many_different_things_are_bounded_too() {
        let minute = Duration::from_secs(60);
        let quiet = Quiet::new(minute);
        let start = Instant::now();
        let told = (0..1000).filter(|key| quiet.may_tell(*key, start).is_some()).count();
        assert_eq!(told, MAX_ENTRIES);
        assert_eq!(quiet.may_tell(0, start), None);
        // The old ones are forgotten, their number is not.
        assert_eq!(quiet.may_tell(5000, start + minute), Some(1000 - MAX_ENTRIES as u64 + 1));
        assert_eq!(quiet.state.lock().unwrap().told.len(), 1);
    }
}
