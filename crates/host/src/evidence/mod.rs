//! Evidence bundles: `YYYY-MM-DD/<requestId>/` with env.json, request.json, response.json, ax/,
//! screenshots/, selectors/ and summary.md.
//!
//! A bundle is opened before its action runs; when it cannot be, the action does not run.

mod bundle;
mod prune;
mod summary;
mod writer;

use std::fs::DirBuilder;
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use deskhand_platform::Desktop;
use deskhand_protocol::{Call, Error, ErrorCode, Result};

pub(crate) use bundle::Bundle;
use writer::Writer;

/// Where bundles go.
pub struct EvidenceStore {
    root: PathBuf,
    writer: Writer,
}

impl EvidenceStore {
    /// Under `root`, which is made when the first bundle needs it.
    pub fn new(root: impl Into<PathBuf>) -> io::Result<Self> {
        Ok(Self { root: root.into(), writer: Writer::start()? })
    }

    /// Removes the oldest bundles when there are too many; returns how many went.
    pub fn prune(&self) -> usize {
        prune::prune(&self.root)
    }

    /// Opens the bundle of a call: its folder and request.json are on disk when this returns.
    pub(crate) fn open(&self, call: &Call, desktop: &Desktop) -> Result<Bundle> {
        let day =
            jiff::Timestamp::now().to_zoned(jiff::tz::TimeZone::system()).strftime("%Y-%m-%d").to_string();
        let failed = |e: io::Error| {
            Error::new(ErrorCode::EvidenceFailed, format!("the evidence folder cannot be written: {e}"))
                .detail("path", self.root.display().to_string())
        };
        let day_dir = self.root.join(&day);
        let mut name = call.request_id.0.clone();
        let mut dir = day_dir.join(&name);
        for again in 2.. {
            match make_dir(&dir) {
                Ok(()) => break,
                Err(e) if e.kind() == io::ErrorKind::NotFound => {
                    DirBuilder::new().recursive(true).mode(0o700).create(&day_dir).map_err(failed)?;
                }
                // A client that uses an id twice gets a second folder, never somebody's evidence overwritten.
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists && again < 1000 => {
                    name = format!("{}-{again}", call.request_id);
                    dir = day_dir.join(&name);
                }
                Err(e) => return Err(failed(e)),
            }
        }
        let bundle = Bundle::new(format!("{day}/{name}"), dir, desktop.clone(), self.writer.clone());
        bundle.write_request(call, true).map_err(failed)?;
        Ok(bundle)
    }
}

/// Ids that become folder names are plain words.
pub(crate) fn check_request_id(id: &str) -> Result<()> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if id.is_empty() || id.len() > 128 || id.starts_with('.') || !id.chars().all(plain) {
        return Err(Error::new(
            ErrorCode::InvalidInput,
            format!("requestId is {:?}", id.chars().take(140).collect::<String>()),
        )
        .hint("use 1 to 128 letters, digits, '-', '_' or '.', not starting with '.'")
        .detail("field", "requestId"));
    }
    Ok(())
}

fn make_dir(path: &Path) -> io::Result<()> {
    DirBuilder::new().mode(0o700).create(path)
}

/// Writes a file of a bundle: private, whole or not at all.
fn write_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let part = path.with_extension("part");
    let write = || {
        let mut file =
            std::fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&part)?;
        file.write_all(bytes)?;
        drop(file);
        std::fs::rename(&part, path)
    };
    write().inspect_err(|_| {
        let _ = std::fs::remove_file(&part);
    })
}
