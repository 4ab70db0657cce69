//! Confirmation phrases: bound to one tool, its arguments and its route, good once and not for long.
//!
//! A phrase guards scripts against acting by accident. It never stands for a human's approval.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use deskhand_protocol::{CallOptions, Error, ErrorCode, Result, Route};
use serde_json::Value;
use sha2::{Digest, Sha256};

/// How long a phrase is good.
const LIFETIME_MS: u64 = 120_000;
/// How many used phrases are remembered; when it is full, no phrase is taken until some expire.
const MAX_USED: usize = 50_000;

/// Makes and checks phrases.
pub struct Confirm {
    key: [u8; 32],
    used: Mutex<HashMap<String, u64>>,
    /// No two phrases are the same, not even for the same call in the same millisecond.
    count: AtomicU64,
}

/// What a phrase is bound to.
pub(crate) struct Bound<'a> {
    pub(crate) tool: &'a str,
    pub(crate) args: &'a Value,
    pub(crate) route: Option<&'a Route>,
    pub(crate) project: Option<&'a str>,
    pub(crate) options: CallOptions,
}

impl Confirm {
    /// With a key of random bytes that never leaves the process.
    #[must_use]
    pub fn new(key: [u8; 32]) -> Self {
        Self { key, used: Mutex::new(HashMap::new()), count: AtomicU64::new(0) }
    }

    /// The answer to a first call: an error that carries the phrase.
    pub(crate) fn ask(&self, bound: &Bound<'_>, now_ms: u64) -> Error {
        let expires = now_ms + LIFETIME_MS;
        let phrase = self.phrase(bound, expires, self.count.fetch_add(1, Ordering::Relaxed));
        Error::new(
            ErrorCode::ConfirmRequired,
            format!("{} acts on the desktop and must be confirmed", bound.tool),
        )
        .hint(format!(
            "send the same call again with confirm set to {phrase:?} within {} s",
            LIFETIME_MS / 1000
        ))
        .detail("phrase", phrase)
        .detail("expiresAt", expires)
        .detail("tool", bound.tool)
    }

    /// Takes a phrase; a wrong, old or used one is answered with a fresh one.
    pub(crate) fn take(&self, phrase: &str, bound: &Bound<'_>, now_ms: u64) -> Result<()> {
        let refuse = |why: &str| {
            let mut error = self.ask(bound, now_ms);
            error.message = format!("{}: the confirmation phrase {why}", bound.tool);
            error
        };
        let numbers = phrase.split(' ').nth(2).and_then(|t| t.split_once('-'));
        let number = |text: &str| u64::from_str_radix(text, 36).ok();
        let (expires, count) = numbers
            .and_then(|(expires, count)| Some((number(expires)?, number(count)?)))
            .ok_or_else(|| refuse("is not one of ours"))?;
        if expires <= now_ms {
            return Err(refuse("has expired"));
        }
        // Compared as hashes, so that the time it takes tells nothing about where they differ.
        let same = Sha256::digest(self.phrase(bound, expires, count)) == Sha256::digest(phrase);
        if !same {
            return Err(refuse("belongs to another call (tool, arguments or route differ)"));
        }
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        if used.len() >= MAX_USED {
            used.retain(|_, until| *until > now_ms);
            if used.len() >= MAX_USED {
                return Err(Error::new(
                    ErrorCode::Busy,
                    format!("{MAX_USED} confirmations are remembered already"),
                ));
            }
        }
        if used.insert(phrase.to_owned(), expires).is_some() {
            return Err(refuse("was used already"));
        }
        Ok(())
    }

    /// `confirm <tool> <expiry>-<count> <mac>`: readable, and nothing in it can be changed.
    fn phrase(&self, bound: &Bound<'_>, expires: u64, count: u64) -> String {
        let route = bound.route.map(|r| serde_json::to_string(r).unwrap_or_default()).unwrap_or_default();
        let mut inner = Sha256::new();
        inner.update(self.key);
        let how = serde_json::to_string(&bound.options).unwrap_or_default();
        for part in [bound.tool, &bound.args.to_string(), &route, bound.project.unwrap_or_default(), &how] {
            inner.update((part.len() as u64).to_le_bytes());
            inner.update(part);
        }
        inner.update(expires.to_le_bytes());
        inner.update(count.to_le_bytes());
        // Hashing twice with the key keeps lengthening attacks out.
        let mut outer = Sha256::new();
        outer.update(self.key);
        outer.update(inner.finalize());
        let mac: String = outer.finalize().iter().take(10).map(|b| format!("{b:02x}")).collect();
        format!("confirm {} {}-{} {mac}", bound.tool, base36(expires), base36(count))
    }
}

fn base36(mut n: u64) -> String {
    let mut digits = Vec::new();
    loop {
        digits.push(char::from_digit((n % 36) as u32, 36).unwrap_or('0'));
        n /= 36;
        if n == 0 {
            return digits.iter().rev().collect();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn phrase(c: &Confirm, b: &Bound<'_>) -> String {
        c.ask(b, 1000).details["phrase"].as_str().unwrap().to_owned()
    }

    #[test]
    fn a_phrase_is_good_once_for_its_own_call_only() {
        let c = Confirm::new([7; 32]);
        let args = json!({"x": 1, "y": 2});
        let other = json!({"x": 1, "y": 3});
        let bound = Bound {
            tool: "left_click",
            args: &args,
            route: None,
            project: None,
            options: CallOptions::default(),
        };
        let p = phrase(&c, &bound);
        let route = Route::default();
        for wrong in [
            Bound {
                tool: "left_click",
                args: &other,
                route: None,
                project: None,
                options: CallOptions::default(),
            },
            Bound {
                tool: "right_click",
                args: &args,
                route: None,
                project: None,
                options: CallOptions::default(),
            },
            Bound {
                tool: "left_click",
                args: &args,
                route: Some(&route),
                project: None,
                options: CallOptions::default(),
            },
            Bound {
                tool: "left_click",
                args: &args,
                route: None,
                project: Some("p"),
                options: CallOptions::default(),
            },
            Bound {
                tool: "left_click",
                args: &args,
                route: None,
                project: None,
                options: CallOptions { verify: Some(false), evidence: None },
            },
        ] {
            assert_eq!(c.take(&p, &wrong, 1000).unwrap_err().code, ErrorCode::ConfirmRequired);
        }
        c.take(&p, &bound, 1000).unwrap();
        assert!(c.take(&p, &bound, 1000).unwrap_err().message.contains("used"));
        let again = phrase(&c, &bound);
        assert_ne!(again, p, "the same call asked again in the same millisecond gets a phrase of its own");
        c.take(&again, &bound, 1000).unwrap();
    }

    #[test]
    fn an_old_or_foreign_phrase_is_refused_with_a_fresh_one() {
        let c = Confirm::new([7; 32]);
        let args = json!({});
        let bound =
            Bound { tool: "t", args: &args, route: None, project: None, options: CallOptions::default() };
        let p = phrase(&c, &bound);
        let late = c.take(&p, &bound, 1000 + LIFETIME_MS).unwrap_err();
        assert!(late.message.contains("expired") && late.details.contains_key("phrase"));
        for bad in [
            "",
            "yes",
            "confirm t zzz",
            "confirm t zzzzzzzzzz-0 00",
            &Confirm::new([8; 32]).phrase(&bound, 9_999_999, 0),
        ] {
            assert_eq!(c.take(bad, &bound, 1000).unwrap_err().code, ErrorCode::ConfirmRequired, "{bad}");
        }
    }
}
