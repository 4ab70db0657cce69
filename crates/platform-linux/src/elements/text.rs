//! Text of an element.

use deskhand_platform::{Handle, PlatformError, Result, Scope, TextRead};

use super::bus::AxBus;
use super::names::{NULL, TEXT, iface};
use super::object::Object;
use super::value::cut_bytes;
use super::wire::Args;

/// Stands for an object inside a text (a link or a picture in a paragraph).
const EMBEDDED: char = '\u{fffc}';
/// Objects opened for one text, and levels of them.
const MAX_OBJECTS: usize = 500;
const MAX_LEVELS: usize = 12;

/// Reads it.
pub(super) fn text(bus: &AxBus, handle: &Handle, limit_bytes: usize, scope: &Scope) -> Result<TextRead> {
    let object = Object::of(bus, handle, scope)?;
    let kind = object.kind()?;
    if kind.secure() {
        return Err(PlatformError::Secure { what: object.what() });
    }
    if !kind.can(iface::TEXT) {
        return Err(PlatformError::NotActionable {
            what: object.what(),
            reason: "it has no text to read".into(),
        });
    }
    let mut budget = MAX_OBJECTS;
    let mut out = String::new();
    let whole = gather(&object, limit_bytes, 0, &mut budget, &mut out)?;
    let cut = cut_bytes(&out, limit_bytes).len();
    let truncated = !whole || cut < out.len();
    out.truncate(cut);
    Ok(TextRead { total_bytes: (!truncated).then_some(cut), text: out, truncated })
}

/// Appends the text of an object, with the objects in it opened. False when a bound was hit.
fn gather(
    object: &Object<'_>,
    limit: usize,
    level: usize,
    budget: &mut usize,
    out: &mut String,
) -> Result<bool> {
    let count = object.int(TEXT, "CharacterCount")?;
    // A character takes a byte at least: more than this is never needed.
    let room = i32::try_from(limit.saturating_sub(out.len()).saturating_add(1)).unwrap_or(i32::MAX);
    let reply = object.call(TEXT, "GetText", Args::default().i32(0).i32(count.min(room)))?;
    let own = reply.ok().map(|mut r| r.str().to_owned()).unwrap_or_default();
    let mut whole = count <= room;
    if !own.contains(EMBEDDED) || level >= MAX_LEVELS {
        out.push_str(&own);
        return Ok(whole && level < MAX_LEVELS);
    }
    let objects = embedded(object, own.matches(EMBEDDED).count().min(*budget));
    let mut objects = objects.into_iter();
    for (i, piece) in own.split(EMBEDDED).enumerate() {
        if i > 0 {
            match objects.next().flatten() {
                Some(path) if *budget > 0 && out.len() <= limit => {
                    *budget -= 1;
                    let inner = object.other(&path);
                    let kind = inner.kind();
                    if kind.as_ref().is_ok_and(|k| k.secure()) {
                        whole = false;
                    } else if kind.is_ok_and(|k| k.can(iface::TEXT)) {
                        if level == 0 && !out.is_empty() && !out.ends_with('\n') {
                            out.push('\n');
                        }
                        whole &= gather(&inner, limit, level + 1, budget, out)?;
                    }
                }
                Some(_) => whole = false,
                None => out.push(EMBEDDED),
            }
        }
        out.push_str(piece);
    }
    Ok(whole)
}

/// The objects in a text, in order.
fn embedded(object: &Object<'_>, n: usize) -> Vec<Option<String>> {
    let ask: Vec<(&str, &str, Args)> =
        (0..n).map(|i| ("org.a11y.atspi.Hypertext", "GetLink", Args::default().i32(i as i32))).collect();
    let links = object.many(&ask);
    let path = |r: Option<&super::conn::Reply>| {
        let (_, path) = r?.ok()?.reference();
        (path != NULL && !path.is_empty()).then(|| path.to_owned())
    };
    links
        .iter()
        .map(|link| {
            let link = object.other(&path(link.as_ref())?);
            let held = link.try_call("org.a11y.atspi.Hyperlink", "GetObject", Args::default().i32(0)).ok();
            path(held.as_ref())
        })
        .collect()
}
