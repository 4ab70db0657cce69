//! A million and more mutated frames through decoder and parser: no panic, every complete line
//! answered exactly once whatever the cuts, never more held than the limit. Deterministic: a
//! failure names its seed.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should say where")]

use deskhand_bridge::{Decoder, Frame, parse};
use deskhand_protocol::ErrorCode;
use fastrand::Rng;
use serde_json::Value;

const INPUTS: usize = 1_100_000;
const LIMIT: usize = 512;

const SEEDS: &[&str] = &[
    r#"{"jsonrpc":"2.0","id":1,"method":"hello","params":{"versions":[1],"client":"c","clientVersion":"0"}}"#,
    r#"{"jsonrpc":"2.0","id":"a","method":"call","params":{"nonce":"0123456789abcdef","expiresAt":1,"tool":"click","args":{"x":1,"y":-2.5e3}}}"#,
    r#"{"jsonrpc":"2.0","id":18446744073709551615,"method":"status"}"#,
    r#"{"jsonrpc":"2.0","id":-1,"method":"abort","params":{"executionId":"exec-1"}}"#,
    r#"{"jsonrpc":"2.0","id":2,"method":"call","params":{"args":{"text":"汉字 🖐 \u00e9\ud83d\ude00\n"}}}"#,
    r#"{"jsonrpc":"2.0","id":3,"method":"x","params":[[[[[[[[1,null,true]]]]]]]]}"#,
    r#"[{"jsonrpc":"2.0","id":4,"method":"status"}]"#,
    r#" {"id":5} "#,
    "",
    "garbage",
];

const TOKENS: &[&[u8]] = &[
    b"\0",
    b"\xff",
    b"\xc3",
    b"\xed\xa0\x80",
    b"\n",
    b"\r\n",
    b"[",
    b"{",
    b"}",
    b"]",
    b"\"",
    b"\\",
    b"\\u",
    b"\\ud800",
    b"1e999",
    b"-0",
    b"null",
    b"id",
    b"\"id\":null,",
    b",",
    b":",
    b"\xf0\x9f\x96\x90",
    b"[[[[[[[[[[[[[[[[",
    b"{\"a\":{\"a\":{\"a\":",
    b"\"jsonrpc\":\"2.0\",",
    b" ",
    b"\t",
    b"99999999999999999999999999",
];

/// A frame, mostly broken somewhere, with its newline now and then forgotten.
fn frame(rng: &mut Rng, out: &mut Vec<u8>) {
    let begin = out.len();
    out.extend_from_slice(SEEDS[rng.usize(..SEEDS.len())].as_bytes());
    for _ in 0..rng.usize(..4) {
        let at = begin + rng.usize(..=out.len() - begin);
        match rng.u8(..7) {
            0 if at < out.len() => out[at] ^= 1 << rng.u8(..8),
            1 if at < out.len() => drop(out.drain(at..(at + rng.usize(1..8)).min(out.len()))),
            2 => out.truncate(at),
            3 => {
                let piece = out[at..(at + rng.usize(..64)).min(out.len())].to_vec();
                out.splice(at..at, piece);
            }
            4 => out.splice(at..at, std::iter::repeat_n(b'[', rng.usize(..300))).for_each(drop),
            _ => out.splice(at..at, TOKENS[rng.usize(..TOKENS.len())].iter().copied()).for_each(drop),
        }
    }
    if rng.u8(..50) != 0 {
        out.push(b'\n');
    }
}

/// What the decoder must find, told the simple way: the lines, and whether it ends too large.
fn expected(stream: &[u8]) -> (Vec<&[u8]>, bool) {
    let mut lines: Vec<&[u8]> = stream.split(|byte| *byte == b'\n').collect();
    if let Some(long) = lines.iter().position(|line| line.len() > LIMIT) {
        lines.truncate(long);
        return (lines, true);
    }
    lines.pop(); // what follows the last newline is not a line
    (lines, false)
}

/// Looks at the answer to one line; says whether it is a request.
fn answer(line: &[u8], seed: u64) -> bool {
    match parse(line) {
        Ok(request) => {
            assert!(request.id.is_string() || request.id.is_i64() || request.id.is_u64(), "seed {seed}");
            true
        }
        Err(malformed) => {
            assert_eq!(malformed.error.code, ErrorCode::BadRequest, "seed {seed}");
            assert!(matches!(malformed.id, Value::Null | Value::String(_) | Value::Number(_)), "seed {seed}");
            assert!(malformed.error.message.len() < 1000, "seed {seed}");
            false
        }
    }
}

fn run(from: u64, inputs: usize) -> (usize, usize, usize) {
    let (mut lines, mut requests, mut too_large) = (0, 0, 0);
    let mut seed = from;
    let mut stream = Vec::new();
    while lines < inputs {
        seed += 1;
        let mut rng = Rng::with_seed(seed);
        stream.clear();
        for _ in 0..rng.usize(1..40) {
            frame(&mut rng, &mut stream);
        }
        let (want, want_large) = expected(&stream);
        let mut want = want.into_iter();
        let mut large = false;
        let mut decoder = Decoder::new(LIMIT);
        let mut rest = &stream[..];
        while !rest.is_empty() {
            let most = if rng.bool() { 16 } else { 2000 };
            let (piece, after) = rest.split_at(rng.usize(1..=most).min(rest.len()));
            rest = after;
            decoder.push(piece);
            assert!(decoder.capacity() <= LIMIT + 2000, "seed {seed}: {}", decoder.capacity());
            while let Some(found) = decoder.next_frame() {
                match found {
                    Frame::Line(line) => {
                        assert_eq!(Some(line), want.next(), "seed {seed}");
                        requests += usize::from(answer(line, seed));
                        lines += 1;
                    }
                    Frame::TooLarge => {
                        assert!(!large, "seed {seed}: said twice");
                        large = true;
                    }
                }
            }
            assert!(decoder.buffered() <= LIMIT, "seed {seed}");
        }
        assert_eq!((want.next(), large), (None, want_large), "seed {seed}");
        too_large += usize::from(large);
    }
    (lines, requests, too_large)
}

#[test]
fn a_million_frames() {
    let halves: Vec<_> =
        (0..2u64).map(|half| std::thread::spawn(move || run(half << 32, INPUTS / 2))).collect();
    for half in halves {
        let (lines, requests, too_large) = half.join().unwrap();
        println!("{lines} lines, {requests} of them requests, {too_large} streams cut");
        // The mutations must reach all three outcomes, or they test little.
        assert!(lines >= INPUTS / 2 && requests > lines / 20 && requests < lines && too_large > 100);
    }
}
