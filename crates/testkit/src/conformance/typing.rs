//! Text and chords by keys.

use std::time::{Duration, Instant};

use deskhand_platform::{CancelToken, Key, NamedKey, PlatformError, Scope};
use deskhand_protocol::Role;

use super::form::{Form, Outcome, PATIENCE, Say, ctrl, ensure, ensure_err, patient, until};
use super::{Case, Need, Stage};

pub(crate) const CASES: &[Case] = &[
    Case { name: "typing: ASCII arrives exactly", needs: &[Need::Form], run: ascii },
    Case { name: "typing: any character arrives exactly", needs: &[Need::Form], run: unicode },
    Case { name: "typing: ASCII is still right after other scripts", needs: &[Need::Form], run: ascii_after },
    Case { name: "typing: progress counts every character", needs: &[Need::Form], run: progress },
    Case { name: "typing: Backspace deletes one character", needs: &[Need::Form], run: backspace },
    Case { name: "typing: Tab goes to the next field", needs: &[Need::Form], run: tab },
    Case { name: "typing: select all and copy by chords", needs: &[Need::Form], run: copy },
    Case { name: "typing: paste by a chord, and the reading is counted", needs: &[Need::Form], run: paste },
    Case { name: "typing: select all and type replaces", needs: &[Need::Form], run: replace },
    Case { name: "typing: an empty text is no error", needs: &[], run: empty },
    Case { name: "typing: cancelling in the midst stops at once", needs: &[Need::Form], run: abort },
    Case { name: "typing: the deadline stops it", needs: &[Need::Form], run: deadline },
];

fn typed(form: &Form, text: &str) -> Outcome {
    let sent = form.desktop.input.type_keys(text, Duration::ZERO, &mut |_| {}, &patient()).say("type")?;
    let count = text.chars().count();
    ensure!(sent == count, "{count} characters, says it sent {sent}");
    ensure!(form.desktop.input.held().is_empty(), "held after typing: {:?}", form.desktop.input.held());
    Ok(())
}

fn arrives(stage: &dyn Stage, texts: &[&str]) -> Outcome {
    let form = Form::open(stage)?;
    let name = form.focus_name()?;
    for text in texts {
        typed(&form, text)?;
    }
    form.until_text(&name, &texts.concat())
}

fn ascii(stage: &dyn Stage) -> Outcome {
    arrives(stage, &["The quick brown Fox; 0123456789 !\"#$%&'()*+,-./:<=>?@[\\]^_`{|}~ jumps"])
}

fn unicode(stage: &dyn Stage) -> Outcome {
    arrives(stage, &["Grüße, 世界！ Ωμέγα ñ € ß 你好 これ 🙂🚀 ɐ→∞ Привет"])
}

fn ascii_after(stage: &dyn Stage) -> Outcome {
    arrives(stage, &["漢字かな🙂", "plain Words 123", "αβγ", "z"])
}

fn progress(stage: &dyn Stage) -> Outcome {
    let form = Form::open(stage)?;
    let name = form.focus_name()?;
    let mut seen = Vec::new();
    form.desktop.input.type_keys("abc世界", Duration::ZERO, &mut |n| seen.push(n), &patient()).say("type")?;
    ensure!(seen.last() == Some(&5), "progress said {seen:?}");
    ensure!(seen.windows(2).all(|p| p[0] <= p[1]), "progress goes back: {seen:?}");
    form.until_text(&name, "abc世界")
}

fn backspace(stage: &dyn Stage) -> Outcome {
    let form = Form::open(stage)?;
    let name = form.focus_name()?;
    typed(&form, "abc")?;
    form.desktop.input.chord(&[Key::Named(NamedKey::Backspace)], &patient()).say("Backspace")?;
    form.until_text(&name, "ab")
}

fn tab(stage: &dyn Stage) -> Outcome {
    let form = Form::open(stage)?;
    form.focus_name()?;
    typed(&form, "x\t")?;
    until("the next field has the focus", || {
        Ok(form.find(Role::PasswordField, "Secret")?.states.focused.then_some(()))
    })
}

fn copy(stage: &dyn Stage) -> Outcome {
    let form = Form::open(stage)?;
    form.desktop.clipboard.write_text("before", &patient()).say("write")?;
    let name = form.focus_name()?;
    typed(&form, "copy me 复制")?;
    form.until_text(&name, "copy me 复制")?;
    form.desktop.input.chord(&ctrl('a'), &patient()).say("ctrl+a")?;
    form.desktop.input.chord(&ctrl('c'), &patient()).say("ctrl+c")?;
    until("the clipboard has the text", || {
        let text = form.desktop.clipboard.read_text(&patient()).say("read")?;
        Ok((text.as_deref() == Some("copy me 复制")).then_some(()))
    })
}

fn paste(stage: &dyn Stage) -> Outcome {
    let form = Form::open(stage)?;
    let name = form.focus_name()?;
    form.desktop.clipboard.write_text("pasted 粘贴 🙂", &patient()).say("write")?;
    let before = form.desktop.clipboard.times_read();
    form.desktop.input.chord(&ctrl('v'), &patient()).say("ctrl+v")?;
    form.until_text(&name, "pasted 粘贴 🙂")?;
    let after = form.desktop.clipboard.times_read();
    ensure!(after > before, "times_read was {before} and is {after}");
    Ok(())
}

fn replace(stage: &dyn Stage) -> Outcome {
    let form = Form::open(stage)?;
    let name = form.focus_name()?;
    typed(&form, "old")?;
    form.desktop.input.chord(&ctrl('a'), &patient()).say("ctrl+a")?;
    typed(&form, "new")?;
    form.until_text(&name, "new")
}

fn empty(stage: &dyn Stage) -> Outcome {
    let sent = stage.desktop().input.type_keys("", Duration::ZERO, &mut |_| {}, &patient()).say("type")?;
    ensure!(sent == 0, "sent {sent}");
    Ok(())
}

fn abort(stage: &dyn Stage) -> Outcome {
    let form = Form::open(stage)?;
    let name = form.focus_name()?;
    let text = "0123456789".repeat(500);
    let token = CancelToken::new();
    let scope = Scope::new(PATIENCE * 4, token.clone());
    let mut sent = 0;
    let result = form.desktop.input.type_keys(
        &text,
        Duration::from_millis(2),
        &mut |n| {
            sent = n;
            if n >= 20 {
                token.cancel();
            }
        },
        &scope,
    );
    ensure_err!(result, PlatformError::Cancelled);
    ensure!(sent < 200, "{sent} characters were sent, though it was cancelled after 20");
    ensure!(form.desktop.input.held().is_empty(), "held: {:?}", form.desktop.input.held());
    form.until_text(&name, &text[..sent])?;
    std::thread::sleep(Duration::from_millis(200));
    let later = form.text(&name)?;
    ensure!(later == text[..sent], "characters came after the end: {} instead of {sent}", later.len());
    Ok(())
}

fn deadline(stage: &dyn Stage) -> Outcome {
    let form = Form::open(stage)?;
    let name = form.focus_name()?;
    let text = "x".repeat(5000);
    let started = Instant::now();
    let scope = Scope::timeout(Duration::from_millis(300));
    let mut sent = 0;
    let result = form.desktop.input.type_keys(&text, Duration::from_millis(20), &mut |n| sent = n, &scope);
    ensure_err!(result, PlatformError::Timeout { .. });
    ensure!(started.elapsed() < PATIENCE, "it took {:?}", started.elapsed());
    ensure!(sent < 5000, "everything was sent");
    ensure!(form.desktop.input.held().is_empty(), "held: {:?}", form.desktop.input.held());
    form.until_text(&name, &text[..sent])
}
