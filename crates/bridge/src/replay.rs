//! No request is taken twice, none is taken late.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashSet};
use std::sync::{Mutex, PoisonError};

use deskhand_protocol::{Error, ErrorCode};
use sha2::{Digest, Sha256};

/// How far ahead `expiresAt` may lie.
pub const MAX_AHEAD_MS: u64 = 5 * 60 * 1000;
/// Nonces remembered at once.
pub const MAX_NONCES: usize = 200_000;
/// Allowed length of a nonce, in characters.
pub const NONCE_CHARS: std::ops::RangeInclusive<usize> = 16..=128;

/// Sixteen bytes of the nonce's hash: what a long nonce costs does not depend on its sender.
type Key = [u8; 16];

/// Milliseconds since 1970.
pub type Clock = Box<dyn Fn() -> u64 + Send + Sync>;

/// The system's clock.
#[must_use]
pub fn system_clock() -> Clock {
    Box::new(|| {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    })
}

/// The nonces seen that have not expired.
pub struct NonceBook {
    clock: Clock,
    most: usize,
    pages: Mutex<Pages>,
}

#[derive(Default)]
struct Pages {
    seen: HashSet<Key>,
    by_expiry: BinaryHeap<Reverse<(u64, Key)>>,
    /// Nonces up to this expiry were forgotten; a clock that steps back must not revive them.
    forgotten: u64,
}

impl NonceBook {
    /// An empty book.
    #[must_use]
    pub fn new(clock: Clock) -> Self {
        Self::with_room(clock, MAX_NONCES)
    }

    /// An empty book that holds at most `most` nonces.
    #[must_use]
    pub fn with_room(clock: Clock, most: usize) -> Self {
        Self { clock, most, pages: Mutex::default() }
    }

    /// Takes a request's nonce and expiry, or says why not. Only a taken nonce is remembered.
    pub fn take(&self, nonce: &str, expires_at: u64) -> Result<(), Error> {
        let count = nonce.chars().take(NONCE_CHARS.end() + 1).count();
        if !NONCE_CHARS.contains(&count) {
            let shown =
                if count > *NONCE_CHARS.end() { "more than 128".to_owned() } else { count.to_string() };
            return Err(Error::new(
                ErrorCode::InvalidInput,
                format!("nonce has {shown} characters, must have 16 to 128"),
            )
            .hint("make a fresh random nonce for every request")
            .detail("field", "nonce"));
        }
        let now = (self.clock)();
        let mut pages = self.pages.lock().unwrap_or_else(PoisonError::into_inner);
        if expires_at <= now.max(pages.forgotten) {
            return Err(expired(format!("expiresAt {expires_at} has passed: it is {now}"), now));
        }
        if expires_at > now.saturating_add(MAX_AHEAD_MS) {
            let ahead = expires_at - now;
            return Err(expired(
                format!("expiresAt {expires_at} lies {ahead} ms ahead, at most {MAX_AHEAD_MS} are allowed"),
                now,
            ));
        }
        pages.forget(now);
        let digest = Sha256::digest(nonce.as_bytes());
        let mut key = Key::default();
        key.copy_from_slice(&digest[..16]);
        if pages.seen.contains(&key) {
            return Err(
                Error::new(ErrorCode::NonceReplayed, "this nonce was used before").detail("field", "nonce")
            );
        }
        if pages.seen.len() >= self.most {
            return Err(Error::new(
                ErrorCode::Busy,
                format!("{} requests of the last minutes are remembered, no room for more", pages.seen.len()),
            )
            .hint("send fewer requests, or give them a nearer expiresAt"));
        }
        pages.seen.insert(key);
        pages.by_expiry.push(Reverse((expires_at, key)));
        Ok(())
    }

    /// How many nonces are remembered.
    #[must_use]
    pub fn len(&self) -> usize {
        self.pages.lock().unwrap_or_else(PoisonError::into_inner).seen.len()
    }

    /// Whether none is.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Pages {
    fn forget(&mut self, now: u64) {
        while let Some(Reverse((expiry, key))) = self.by_expiry.peek().copied() {
            if expiry > now {
                break;
            }
            self.by_expiry.pop();
            self.seen.remove(&key);
            self.forgotten = self.forgotten.max(expiry);
        }
    }
}

fn expired(message: String, now: u64) -> Error {
    Error::new(ErrorCode::RequestExpired, message).detail("field", "expiresAt").detail("now", now)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    fn book(room: usize) -> (NonceBook, Arc<AtomicU64>) {
        let time = Arc::new(AtomicU64::new(1_000_000));
        let read = Arc::clone(&time);
        (NonceBook::with_room(Box::new(move || read.load(Ordering::SeqCst)), room), time)
    }

    fn code(result: Result<(), Error>) -> Option<ErrorCode> {
        result.err().map(|error| error.code)
    }

    #[test]
    fn bounds_of_nonce_and_expiry() {
        let long = "x".repeat(129);
        let han = "字".repeat(128);
        let cases: &[(&str, u64, Option<ErrorCode>)] = &[
            ("123456789012345", 1_000_001, Some(ErrorCode::InvalidInput)),
            (&long, 1_000_001, Some(ErrorCode::InvalidInput)),
            ("1234567890123456", 1_000_001, None),
            (&han, 1_000_001, None),
            ("0-already-at-now-0", 1_000_000, Some(ErrorCode::RequestExpired)),
            ("0-long-ago-0000000", 0, Some(ErrorCode::RequestExpired)),
            ("0-just-in-reach-00", 1_000_000 + MAX_AHEAD_MS, None),
            ("0-just-out-of-it-0", 1_000_001 + MAX_AHEAD_MS, Some(ErrorCode::RequestExpired)),
            ("0-end-of-time-0000", u64::MAX, Some(ErrorCode::RequestExpired)),
        ];
        let (book, _) = book(100);
        for (nonce, expires, want) in cases {
            assert_eq!(code(book.take(nonce, *expires)), *want, "{nonce} {expires}");
        }
    }

    #[test]
    fn a_nonce_is_taken_once_even_when_the_clock_steps_back() {
        let (book, time) = book(100);
        let nonce = "nonce-nonce-nonce";
        assert_eq!(code(book.take(nonce, 1_000_500)), None);
        assert_eq!(code(book.take(nonce, 1_000_900)), Some(ErrorCode::NonceReplayed));
        time.store(1_000_500, Ordering::SeqCst);
        assert_eq!(code(book.take("another-nonce-here", 1_000_900)), None, "forgets the first");
        assert_eq!(book.len(), 1);
        time.store(1_000_000, Ordering::SeqCst);
        assert_eq!(code(book.take(nonce, 1_000_500)), Some(ErrorCode::RequestExpired));
    }

    #[test]
    fn a_full_book_says_busy_until_something_expires() {
        let (book, time) = book(3);
        for i in 0..3 {
            book.take(&format!("nonce-nonce-nonce-{i}"), 1_000_100 + i).unwrap();
        }
        assert_eq!(code(book.take("one-more-nonce-too", 1_000_500)), Some(ErrorCode::Busy));
        time.store(1_000_100, Ordering::SeqCst);
        assert_eq!(code(book.take("one-more-nonce-too", 1_000_500)), None);
    }
}
