//! Values in a dump: text and numbers, for the elements where they tell something.

use deskhand_platform::Result;

use super::conn::Reply;
use super::model::Model;
use super::names::{TEXT, VALUE};
use super::read::{Source, int};
use super::wire::{Args, Variant};

/// Characters of text read per element; cut to bytes afterwards.
const TEXT_CHARS: i32 = 4096;
/// Bytes of text kept per element.
const TEXT_BYTES: usize = 4096;

/// At most `bytes` of a text, at a character's edge.
pub(super) fn cut_bytes(text: &str, bytes: usize) -> &str {
    if text.len() <= bytes {
        return text;
    }
    let end = (0..=bytes).rev().find(|i| text.is_char_boundary(*i)).unwrap_or(0);
    &text[..end]
}

/// How a number is said.
pub(super) fn number(v: f64) -> String {
    if v.fract() == 0.0 && v.abs() < 1e15 { format!("{v:.0}") } else { v.to_string() }
}

/// Reads the values of items. False when a bound was hit. These are few, and asked for each time: not
/// every toolkit tells when they change.
pub(super) fn values(
    source: &Source<'_>,
    model: &mut Model,
    which: &[u32],
    include_text: bool,
) -> Result<bool> {
    let numbers: Vec<(u32, String)> = which
        .iter()
        .filter(|i| model.number_worth_reading(**i))
        .map(|i| (*i, model.item(*i).path.clone()))
        .collect();
    let (replies, ended) =
        source.batch(numbers.iter().map(|(_, p)| source.property(p, VALUE, "CurrentValue")));
    for ((i, _), reply) in numbers.iter().zip(&replies) {
        if let Some(Variant::Double(v)) = reply.as_ref().and_then(Reply::ok).map(|mut r| r.variant()) {
            model.item_mut(*i).value = Some(number(v));
        }
    }
    if !source.settle(model, ended)? {
        return Ok(false);
    }
    if !include_text {
        for i in which {
            if model.text_worth_reading(*i) && !model.number_worth_reading(*i) {
                model.item_mut(*i).value = None;
            }
        }
        return Ok(true);
    }
    let texts: Vec<(u32, String)> = which
        .iter()
        .filter(|i| model.text_worth_reading(**i))
        .map(|i| (*i, model.item(*i).path.clone()))
        .collect();
    let (replies, ended) =
        source.batch(texts.iter().map(|(_, p)| source.property(p, TEXT, "CharacterCount")));
    let counts: Vec<i32> =
        replies.iter().map(|r| int(r.as_ref()).unwrap_or(0).clamp(0, i64::from(TEXT_CHARS)) as i32).collect();
    if !source.settle(model, ended)? {
        return Ok(false);
    }
    let calls = texts
        .iter()
        .zip(&counts)
        .map(|((_, p), n)| source.call(p, TEXT, "GetText", Args::default().i32(0).i32(*n)));
    let (replies, ended) = source.batch(calls);
    for ((i, _), reply) in texts.iter().zip(&replies) {
        if let Some(mut r) = reply.as_ref().and_then(Reply::ok) {
            model.item_mut(*i).value = Some(cut_bytes(r.str(), TEXT_BYTES).to_owned());
        }
    }
    source.settle(model, ended)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_cuts() {
        assert_eq!((number(3.0), number(0.25), number(-1.0)), ("3".into(), "0.25".into(), "-1".into()));
        assert_eq!(cut_bytes("a語b", 3), "a");
        assert_eq!(cut_bytes("a語b", 4), "a語");
        assert_eq!(cut_bytes("", 0), "");
    }
}
