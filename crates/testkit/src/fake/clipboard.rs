//! The clipboard.

use deskhand_platform::{Clipboard, Result, SavedClipboard, Scope};

use super::Fake;
use super::world::text_formats;

impl Clipboard for Fake {
    fn formats(&self, scope: &Scope) -> Result<Vec<String>> {
        self.enter("clipboard", "reading the clipboard", scope)?;
        Ok(self.lock().clipboard.iter().map(|(f, _)| f.clone()).collect())
    }

    fn read_text(&self, scope: &Scope) -> Result<Option<String>> {
        self.enter("clipboard", "reading the clipboard", scope)?;
        let world = self.lock();
        let text = world.clipboard.iter().find(|(f, _)| f.starts_with("text/plain") || f == "UTF8_STRING");
        Ok(text.map(|(_, bytes)| String::from_utf8_lossy(bytes).into_owned()))
    }

    fn write_text(&self, text: &str, scope: &Scope) -> Result<()> {
        self.enter("clipboard", "writing the clipboard", scope)?;
        self.with(|w| {
            w.clipboard = text_formats(text);
            w.times_read = 0;
        });
        Ok(())
    }

    fn save(&self, scope: &Scope) -> Result<SavedClipboard> {
        self.enter("clipboard", "saving the clipboard", scope)?;
        Ok(SavedClipboard { items: self.lock().clipboard.clone() })
    }

    fn restore(&self, saved: &SavedClipboard, scope: &Scope) -> Result<()> {
        self.enter("clipboard", "restoring the clipboard", scope)?;
        self.with(|w| w.clipboard.clone_from(&saved.items));
        Ok(())
    }

    fn times_read(&self) -> u64 {
        self.lock().times_read
    }
}
