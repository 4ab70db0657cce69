//! The clipboard (X11 selection CLIPBOARD; PRIMARY is the user's own and is not touched).

mod owner;
mod reader;

use std::sync::{Arc, Mutex, PoisonError};

use deskhand_platform::{Clipboard, PlatformError, Result, SavedClipboard, Scope};
use x11rb::protocol::xproto::ConnectionExt as _;

use self::owner::{Items, Owner};
use self::reader::Reader;
use crate::x11::{Link, Reply};

/// Formats kept by `save`.
const FORMATS: usize = 16;
/// Bytes kept per format.
const BYTES: usize = 16 * 1024 * 1024;

/// Text formats, the best first.
const TEXT: &[&str] = &["UTF8_STRING", "text/plain;charset=utf-8", "TEXT", "STRING", "text/plain"];

/// Words of the protocol that are no data.
const NO_DATA: &[&str] = &[
    "TARGETS",
    "TIMESTAMP",
    "MULTIPLE",
    "SAVE_TARGETS",
    "DELETE",
    "INSERT_SELECTION",
    "INSERT_PROPERTY",
    "XWAYLAND_CLIPBOARD",
];

/// The clipboard facet on X11.
pub(crate) struct X11Clipboard {
    link: Arc<Link>,
    owner: Mutex<Option<Owner>>,
}

impl X11Clipboard {
    /// Uses the display of `link` on connections of its own.
    pub(crate) fn new(link: Arc<Link>) -> Self {
        Self { link, owner: Mutex::new(None) }
    }

    /// Puts `items` on the clipboard.
    fn put(&self, items: Vec<(String, Vec<u8>)>) -> Result<()> {
        let mut slot = self.owner.lock().unwrap_or_else(PoisonError::into_inner);
        if slot.as_ref().is_none_or(|o| !o.alive()) {
            *slot = None;
            *slot = Some(Owner::start(self.link.display())?);
        }
        match slot.as_ref() {
            Some(owner) => owner.own(items),
            None => Ok(()),
        }
    }

    /// Our own contents while we own the clipboard. The server is asked: our thread may not have heard
    /// yet that another program took it.
    fn own_items(&self) -> Result<Option<Items>> {
        let ours = {
            let slot = self.owner.lock().unwrap_or_else(PoisonError::into_inner);
            slot.as_ref().filter(|o| o.alive()).and_then(|o| o.items().map(|items| (o.window(), items)))
        };
        let Some((window, items)) = ours else { return Ok(None) };
        self.link.with(|conn| {
            let owner = conn.x.get_selection_owner(conn.atoms.CLIPBOARD).wait("reading the clipboard")?.owner;
            Ok((owner == window).then_some(items))
        })
    }

    fn reader(&self, scope: &Scope) -> Result<Reader> {
        scope.check("reading the clipboard")?;
        Reader::open(self.link.display())
    }

    /// Who owns the clipboard and whether it answers, for the report of what works.
    pub(crate) fn probe(&self, scope: &Scope) -> Result<Option<Vec<String>>> {
        if self.own_items()?.is_some() {
            return self.formats(scope).map(Some);
        }
        let reader = self.reader(scope)?;
        if reader.owner()? == 0 {
            return Ok(None);
        }
        reader.targets(scope).map(Some)
    }
}

fn decode(format: &str, bytes: &[u8]) -> String {
    if format == "STRING" && std::str::from_utf8(bytes).is_err() {
        return bytes.iter().map(|b| char::from(*b)).collect();
    }
    String::from_utf8_lossy(bytes).trim_end_matches('\0').to_owned()
}

impl Clipboard for X11Clipboard {
    fn formats(&self, scope: &Scope) -> Result<Vec<String>> {
        scope.check("reading the clipboard")?;
        if let Some(items) = self.own_items()? {
            return Ok(items.iter().map(|(f, _)| f.clone()).collect());
        }
        self.reader(scope)?.targets(scope)
    }

    fn read_text(&self, scope: &Scope) -> Result<Option<String>> {
        scope.check("reading the clipboard")?;
        if let Some(items) = self.own_items()? {
            let best = TEXT.iter().find_map(|t| items.iter().find(|(f, _)| f == t));
            return Ok(best.map(|(f, bytes)| decode(f, bytes)));
        }
        let reader = self.reader(scope)?;
        if reader.owner()? == 0 {
            return Ok(None);
        }
        let offered = reader.targets(scope)?;
        // Old programs offer text without listing it.
        let formats: Vec<&str> = match TEXT.iter().find(|t| offered.iter().any(|o| o == *t)) {
            Some(best) => vec![best],
            None if offered.is_empty() => vec!["UTF8_STRING", "STRING"],
            None => return Ok(None),
        };
        for format in formats {
            if let Some(bytes) = reader.read(format, BYTES, scope)? {
                return Ok(Some(decode(format, &bytes)));
            }
        }
        Ok(None)
    }

    fn write_text(&self, text: &str, scope: &Scope) -> Result<()> {
        scope.check("writing the clipboard")?;
        if text.len() > BYTES {
            return Err(PlatformError::Invalid {
                field: "text".into(),
                why: format!("{} bytes are more than the {BYTES} the clipboard takes", text.len()),
            });
        }
        let utf8 = text.as_bytes().to_vec();
        let mut items: Vec<(String, Vec<u8>)> =
            ["UTF8_STRING", "text/plain;charset=utf-8", "TEXT", "text/plain"]
                .iter()
                .map(|f| ((*f).to_owned(), utf8.clone()))
                .collect();
        // STRING is Latin-1; offered only when it can carry the text.
        if let Some(latin) =
            text.chars().map(|c| u8::try_from(u32::from(c)).ok()).collect::<Option<Vec<u8>>>()
        {
            items.push(("STRING".into(), latin));
        }
        self.put(items)
    }

    fn save(&self, scope: &Scope) -> Result<SavedClipboard> {
        scope.check("saving the clipboard")?;
        if let Some(items) = self.own_items()? {
            return Ok(SavedClipboard { items: items.to_vec() });
        }
        let reader = self.reader(scope)?;
        if reader.owner()? == 0 {
            return Ok(SavedClipboard::default());
        }
        let mut formats = reader.targets(scope)?;
        // Text first, so that it is among the formats kept whatever else is offered.
        formats.sort_by_key(|f| TEXT.iter().position(|t| t == f).unwrap_or(TEXT.len()));
        formats.truncate(FORMATS);
        let mut items = Vec::new();
        for format in formats {
            match reader.read(&format, BYTES, scope) {
                Ok(Some(bytes)) => items.push((format, bytes)),
                // A format too large or not given after all is left out; the others are kept.
                Ok(None) | Err(PlatformError::Invalid { .. }) => {}
                Err(e) => return Err(e),
            }
        }
        Ok(SavedClipboard { items })
    }

    fn restore(&self, saved: &SavedClipboard, scope: &Scope) -> Result<()> {
        scope.check("restoring the clipboard")?;
        if saved.items.is_empty() {
            let slot = self.owner.lock().unwrap_or_else(PoisonError::into_inner);
            return slot.as_ref().filter(|o| o.alive()).map_or(Ok(()), Owner::disown);
        }
        self.put(saved.items.iter().take(FORMATS).filter(|(_, b)| b.len() <= BYTES).cloned().collect())
    }

    fn times_read(&self) -> u64 {
        let slot = self.owner.lock().unwrap_or_else(PoisonError::into_inner);
        slot.as_ref().map_or(0, Owner::times_read)
    }
}
