//! One bundle while its call runs.

use std::io;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use deskhand_audit::Typed;
use deskhand_platform::{Area, Desktop, Frame, Scope};
use deskhand_protocol::{Call, Candidate, Error, ErrorCode, EvidenceRef, Outcome, Result, Selector};
use deskhand_tools::Notebook;
use serde_json::{Value, json};

use super::writer::Writer;
use super::{make_dir, summary, write_file};
use crate::kept::kept;

/// Time to read the screen for evidence.
const CAPTURE: Duration = Duration::from_secs(2);
/// Longest text kept of one string of an answer.
const LONG_TEXT: usize = 4096;
/// Arrays longer than this are kept only in their own file.
const LONG_ARRAY: usize = 64;

/// A bundle.
pub(crate) struct Bundle {
    id: String,
    dir: PathBuf,
    desktop: Desktop,
    writer: Writer,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    before: bool,
    waiting: Vec<Receiver<io::Result<()>>>,
    files: Vec<String>,
    notes: Vec<String>,
    trees: u32,
    selectors: u32,
    pictures: u32,
    failed: Option<String>,
    /// The tool knows that the text of the call is no secret.
    plain: bool,
}

impl Bundle {
    pub(super) fn new(id: String, dir: PathBuf, desktop: Desktop, writer: Writer) -> Self {
        Self { id, dir, desktop, writer, state: Mutex::default() }
    }

    /// Writes request.json. Texts to be typed are left out unless the tool has said that they are no
    /// secret: before it has found the field, and when it never does, nobody knows.
    pub(super) fn write_request(&self, call: &Call, early: bool) -> io::Result<()> {
        let typed = if !early && self.lock().plain { Typed::Plain } else { Typed::Secret };
        let value = json!({
            "requestId": call.request_id, "tool": call.tool, "args": kept(&call.args, typed), "route": call.route,
            "timeoutMs": call.timeout_ms, "project": call.project, "options": call.options, "confirmed": call.confirm.is_some(),
        });
        write_file(&self.dir.join("request.json"), &pretty(&value))
    }

    /// Where it is.
    pub(crate) fn reference(&self) -> EvidenceRef {
        EvidenceRef {
            id: self.id.clone(),
            path: self.dir.display().to_string(),
            incomplete: self.lock().failed.clone(),
        }
    }

    /// Whether the screen was kept before the action; then it is kept after it too.
    pub(crate) fn wants_after(&self) -> bool {
        self.lock().before
    }

    /// Closes the bundle. With `later` everything slow happens on the writing thread and this
    /// returns at once; else the bundle is whole when this returns.
    pub(crate) fn finish(self: &Arc<Self>, call: &Call, outcome: &Outcome, later: bool) {
        let (bundle, call, outcome) = (Arc::clone(self), call.clone(), outcome.clone());
        let job = move || {
            if bundle.wants_after() {
                match bundle.capture() {
                    Ok(frame) => bundle.keep_frame(frame, "after", true),
                    Err(e) => bundle.note(&format!("no picture after: {e}")),
                }
            }
            bundle.close(&call, &outcome);
        };
        if later {
            self.writer.send(Box::new(job));
        } else {
            job();
        }
    }

    fn close(&self, call: &Call, outcome: &Outcome) {
        let mut result = serde_json::to_value(outcome).unwrap_or_default();
        self.lift_pictures(&mut result, &call.tool);
        shorten(&mut result);
        let env = self.env(outcome);
        let save = |name: &str, bytes: &[u8]| {
            if let Err(e) = write_file(&self.dir.join(name), bytes) {
                self.fail(&format!("{name}: {e}"));
            }
        };
        save("response.json", &pretty(&result));
        save("env.json", &pretty(&env));
        if let Err(e) = self.write_request(call, false) {
            self.fail(&format!("request.json: {e}"));
        }
        let waiting = std::mem::take(&mut self.lock().waiting);
        for done in waiting {
            if let Ok(Err(e)) = done.recv_timeout(Duration::from_secs(5)) {
                self.fail(&e.to_string());
            }
        }
        let page = {
            let state = self.lock();
            summary::write(call, outcome, &state.notes, &state.files)
        };
        if let Err(e) = write_file(&self.dir.join("summary.md"), page.as_bytes()) {
            self.fail(&format!("summary.md: {e}"));
        }
    }

    fn env(&self, outcome: &Outcome) -> Value {
        let system = self.desktop.session.system_info().ok();
        let target = outcome
            .effect
            .as_ref()
            .and_then(|e| e.at)
            .and_then(|at| self.desktop.windows.at(at).ok().flatten());
        let active = self.desktop.windows.active().ok().flatten();
        let displays: Vec<Value> = system
            .iter()
            .flat_map(|s| &s.displays)
            .map(|d| json!({"id": d.id, "name": d.name, "bounds": d.bounds, "scale": d.scale, "primary": d.primary}))
            .collect();
        json!({
            "os": system.as_ref().map(|s| &s.os), "arch": system.as_ref().map(|s| &s.arch),
            "sessionType": system.as_ref().map(|s| &s.session_type), "keyboard": system.as_ref().and_then(|s| s.keyboard.clone()),
            "displays": displays,
            "frontmost": active.as_ref().map(|w| json!({"app": w.app, "title": w.title, "pid": w.pid, "bounds": w.bounds})),
            "target": target.as_ref().map(|w| json!({"app": w.app, "title": w.title, "bounds": w.bounds, "display": w.display})),
            "deskhand": env!("CARGO_PKG_VERSION"),
        })
    }

    fn capture(&self) -> Result<Frame> {
        Ok(self.desktop.screen.capture(Area::All, &Scope::timeout(CAPTURE))?)
    }

    /// Encodes and writes a frame, on the writing thread unless `here`.
    fn keep_frame(&self, frame: Frame, name: &str, here: bool) {
        let path = self.sub("screenshots");
        let file = {
            let mut state = self.lock();
            state.pictures += 1;
            let file = format!("screenshots/{:03}_{name}.png", state.pictures);
            state.files.push(file.clone());
            file
        };
        let target = self.dir.join(&file);
        let writer = self.writer.clone();
        let job = move || -> io::Result<()> {
            path?;
            writer.picture(&frame, &target)
        };
        if here {
            if let Err(e) = job() {
                self.fail(&format!("{file}: {e}"));
            }
            return;
        }
        let (done, wait) = sync_channel(1);
        self.lock().waiting.push(wait);
        self.writer.send(Box::new(move || {
            let _ = done.send(job());
        }));
    }

    /// Takes base64 pictures out of an answer and puts them into files.
    fn lift_pictures(&self, value: &mut Value, tool: &str) {
        match value {
            Value::Object(map) => {
                let mime = map.get("mimeType").and_then(Value::as_str).unwrap_or_default().to_owned();
                if let Some(image) = map.get_mut("image") {
                    let bytes = image.as_str().and_then(deskhand_vision::from_base64);
                    if let Some(bytes) = bytes {
                        let name =
                            self.next_picture(tool, if mime == "image/png" { "png" } else { "jpg" }, &bytes);
                        *image = Value::String(name);
                    }
                }
                map.values_mut().for_each(|v| self.lift_pictures(v, tool));
            }
            Value::Array(all) => all.iter_mut().for_each(|v| self.lift_pictures(v, tool)),
            _ => {}
        }
    }

    fn next_picture(&self, name: &str, extension: &str, bytes: &[u8]) -> String {
        let file = {
            let mut state = self.lock();
            state.pictures += 1;
            let file = format!("screenshots/{:03}_{name}.{extension}", state.pictures);
            state.files.push(file.clone());
            file
        };
        self.put("screenshots", &file, bytes);
        file
    }

    fn put(&self, folder: &str, file: &str, bytes: &[u8]) {
        if let Err(e) = self.sub(folder).and_then(|()| write_file(&self.dir.join(file), bytes)) {
            self.fail(&format!("{file}: {e}"));
        }
    }

    fn sub(&self, name: &str) -> io::Result<()> {
        match make_dir(&self.dir.join(name)) {
            Err(e) if e.kind() != io::ErrorKind::AlreadyExists => Err(e),
            _ => Ok(()),
        }
    }

    fn fail(&self, why: &str) {
        let mut state = self.lock();
        if state.failed.is_none() {
            state.failed = Some(why.to_owned());
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Notebook for Bundle {
    fn before(&self) -> Result<()> {
        if std::mem::replace(&mut self.lock().before, true) {
            return Ok(());
        }
        let frame = self.capture().map_err(|e| {
            Error::new(
                ErrorCode::EvidenceFailed,
                format!("the screen cannot be kept before the action: {}", e.message),
            )
        })?;
        self.keep_frame(frame, "before", false);
        Ok(())
    }

    fn tree(&self, value: &Value) {
        let file = {
            let mut state = self.lock();
            state.trees += 1;
            let file = format!("ax/{:03}_dump_ax_tree.json", state.trees);
            state.files.push(file.clone());
            file
        };
        self.put("ax", &file, &pretty(value));
    }

    fn candidates(&self, selector: &Selector, candidates: &[Candidate]) {
        let file = {
            let mut state = self.lock();
            state.selectors += 1;
            let file = format!("selectors/{:03}_candidates.json", state.selectors);
            state.files.push(file.clone());
            file
        };
        self.put("selectors", &file, &pretty(&json!({"selector": selector, "candidates": candidates})));
    }

    fn picture(&self, name: &str, extension: &str, bytes: &[u8]) {
        self.next_picture(name, extension, bytes);
    }

    fn note(&self, line: &str) {
        let mut state = self.lock();
        if state.notes.len() < 100 {
            state.notes.push(line.to_owned());
        }
    }

    fn plain(&self) {
        self.lock().plain = true;
    }
}

/// Long arrays and texts of an answer are elsewhere in the bundle or of no use in it.
fn shorten(value: &mut Value) {
    match value {
        Value::Array(all) if all.len() > LONG_ARRAY => {
            *value = json!(format!("[{} entries, see the other files]", all.len()))
        }
        Value::Array(all) => all.iter_mut().for_each(shorten),
        Value::Object(map) => map.values_mut().for_each(shorten),
        Value::String(text) if text.len() > LONG_TEXT => {
            let head: String = text.chars().take(200).collect();
            *text = format!("{head}… [{} bytes in all]", text.len());
        }
        _ => {}
    }
}

fn pretty(value: &Value) -> Vec<u8> {
    let mut bytes = serde_json::to_vec_pretty(value).unwrap_or_default();
    bytes.push(b'\n');
    bytes
}
