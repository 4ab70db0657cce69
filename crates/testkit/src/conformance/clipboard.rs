//! The clipboard.

use super::form::{Outcome, Say, ensure, patient};
use super::{Case, Stage};

pub(crate) const CASES: &[Case] = &[
    Case { name: "clipboard: text comes back as it went", needs: &[], run: round_trip },
    Case { name: "clipboard: a large text comes back whole", needs: &[], run: large },
    Case { name: "clipboard: text is offered as text", needs: &[], run: formats },
    Case { name: "clipboard: saved contents come back", needs: &[], run: save_restore },
    Case { name: "clipboard: writing starts the count of readings anew", needs: &[], run: count },
];

fn round_trip(stage: &dyn Stage) -> Outcome {
    let clipboard = &stage.desktop().clipboard;
    for text in ["plain", "Zeile 1\nline 2\t世界 🙂", " spaces around "] {
        clipboard.write_text(text, &patient()).say("write")?;
        let read = clipboard.read_text(&patient()).say("read")?;
        ensure!(read.as_deref() == Some(text), "wrote {text:?}, read {read:?}");
    }
    Ok(())
}

fn large(stage: &dyn Stage) -> Outcome {
    let clipboard = &stage.desktop().clipboard;
    // More than one property holds on X11.
    let text = "0123456789 世界 ".repeat(60_000);
    clipboard.write_text(&text, &patient()).say("write")?;
    let read = clipboard.read_text(&patient()).say("read")?.say("a text")?;
    ensure!(read == text, "wrote {} bytes, read {}", text.len(), read.len());
    Ok(())
}

fn formats(stage: &dyn Stage) -> Outcome {
    let clipboard = &stage.desktop().clipboard;
    clipboard.write_text("x", &patient()).say("write")?;
    let formats = clipboard.formats(&patient()).say("formats")?;
    let text = |f: &String| f == "UTF8_STRING" || f.starts_with("text/plain");
    ensure!(formats.iter().any(text), "offered: {formats:?}");
    Ok(())
}

fn save_restore(stage: &dyn Stage) -> Outcome {
    let clipboard = &stage.desktop().clipboard;
    clipboard.write_text("mine 我的", &patient()).say("write")?;
    let saved = clipboard.save(&patient()).say("save")?;
    ensure!(!saved.items.is_empty() && saved.items.len() <= 16, "saved {} formats", saved.items.len());
    clipboard.write_text("in between", &patient()).say("write")?;
    clipboard.restore(&saved, &patient()).say("restore")?;
    let read = clipboard.read_text(&patient()).say("read")?;
    ensure!(read.as_deref() == Some("mine 我的"), "restored {read:?}");
    Ok(())
}

fn count(stage: &dyn Stage) -> Outcome {
    let clipboard = &stage.desktop().clipboard;
    clipboard.write_text("counted", &patient()).say("write")?;
    let times = clipboard.times_read();
    ensure!(times == 0, "read {times} times before anybody could");
    Ok(())
}
