//! Masking what should not leave the desktop.

use regex_lite::Regex;

/// What stands for something that was masked.
const MASK: &str = "[REDACTED]";

/// Things that look like secrets, whatever they are for.
const SECRETS: &[&str] = &[
    // keys and tokens with a known shape
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(-----END [A-Z ]*PRIVATE KEY-----|$)",
    r"\b(sk|pk|rk)[-_](live|test|proj|ant)?[-_]?[A-Za-z0-9_-]{16,}",
    r"\b(ghp|gho|ghu|ghs|ghr|github_pat|glpat|xox[abprs])[-_][A-Za-z0-9_-]{10,}",
    r"\b(AKIA|ASIA)[A-Z0-9]{16}\b",
    r"\bAIza[A-Za-z0-9_-]{30,}",
    r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*",
    r"(?i)\bbearer\s+[A-Za-z0-9._~+/-]{16,}=*",
    // a password beside its name
    r"(?i)\b(password|passwd|passphrase|secret|api[_-]?key|access[_-]?token)\s*[:=]\s*\S+",
    r"(密码|口令|密钥)\s*[:：=]\s*\S+",
    // long random words
    r"\b[A-Fa-f0-9]{32,}\b",
];

/// 13 to 19 digits, with or without gaps; a card number when its check digit is right.
const CARD: &str = r"\b[0-9](?:[ -]?[0-9]){12,18}\b";

/// Things that say who somebody is.
const PERSONAL: &[&str] =
    &[r"[A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+\.[A-Za-z]{2,}", r"\+?[0-9](?:[ ().-]?[0-9]){5,}"];

/// Masks secrets, and with `personal` also e-mail addresses and long runs of digits; how many.
pub(crate) fn redact(text: &str, personal: bool) -> (String, usize) {
    let mut out = text.to_owned();
    let mut count = 0;
    if let Ok(card) = Regex::new(CARD) {
        let masked = card.replace_all(&out, |found: &regex_lite::Captures<'_>| {
            if luhn(&found[0]) {
                count += 1;
                MASK.to_owned()
            } else {
                found[0].to_owned()
            }
        });
        out = masked.into_owned();
    }
    let patterns = SECRETS.iter().chain(if personal { PERSONAL } else { &[] });
    for pattern in patterns.filter_map(|p| Regex::new(p).ok()) {
        let found = pattern.find_iter(&out).count();
        if found > 0 {
            count += found;
            out = pattern.replace_all(&out, MASK).into_owned();
        }
    }
    (out, count)
}

/// The check digit of payment cards.
fn luhn(text: &str) -> bool {
    let sum: u32 = text
        .chars()
        .filter_map(|c| c.to_digit(10))
        .rev()
        .enumerate()
        .map(|(i, d)| if i % 2 == 0 { d } else { d * 2 - if d > 4 { 9 } else { 0 } })
        .sum();
    sum.is_multiple_of(10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_compiles() {
        for pattern in SECRETS.iter().chain(PERSONAL).chain([&CARD]) {
            assert!(Regex::new(pattern).is_ok(), "{pattern}");
        }
    }

    #[test]
    fn secrets_go_and_words_stay() {
        // text, masked by default, masked with personal
        let cases = [
            ("just words, 42 of them", 0, 0),
            ("password: hunter2", 1, 1),
            ("密码：hunter2 ok", 1, 1),
            ("token ghp_abcdefghij0123456789", 1, 1),
            ("card 4111 1111 1111 1111.", 1, 1),
            ("mail me at ann@example.org", 0, 1),
            ("call +86 138 0013 8000", 0, 1),
            ("eyJhbGciOiJIUzI1.eyJzdWIiOiIxMjM.sig", 1, 1),
        ];
        for (text, default, personal) in cases {
            let (out, n) = redact(text, false);
            assert_eq!(n, default, "{text:?} -> {out:?}");
            let (out, n) = redact(text, true);
            assert_eq!(n, personal, "{text:?} -> {out:?}");
            assert!(!out.contains("hunter2") && !out.contains("1111"), "{out}");
        }
    }
}
