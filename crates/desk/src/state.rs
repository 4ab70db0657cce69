//! What is written down about a desk while it runs.

use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use deskhand_protocol::Size;
use serde::{Deserialize, Serialize};

use crate::error::{DeskError, Result};

/// A desk, as people and programs see it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DeskInfo {
    /// Its name.
    pub name: String,
    /// The X display, such as `:3`; empty while it starts.
    pub display: String,
    /// The first monitor.
    pub size: Size,
    /// The second monitor, if there is one.
    pub second: Option<Size>,
    /// The supervisor's process.
    pub pid: u32,
    /// When it was started, in milliseconds since 1970.
    pub started: u64,
    /// The process whose end is the desk's end, if there is one.
    pub owner_pid: Option<u32>,
    /// Whether it is up; false while it starts.
    pub alive: bool,
    /// The file with the X server's key.
    pub xauthority: PathBuf,
    /// The address of the session bus.
    pub bus: String,
    /// The folder for sockets of programs on the desk.
    pub runtime_dir: PathBuf,
}

/// [`DeskInfo`] and what is needed to clean up after a supervisor that was killed.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct State {
    pub(crate) info: DeskInfo,
    /// When the supervisor's process started, in the kernel's ticks: tells it from a later process
    /// that got its number. 0, which is nobody, in files of older versions.
    #[serde(default)]
    pub(crate) keeper_started: u64,
    /// The value of the mark in the environment of its programs.
    pub(crate) id: String,
    /// The X server's process.
    pub(crate) x_pid: Option<u32>,
    /// Its number, known before it is ready.
    pub(crate) x_number: Option<u32>,
}

impl State {
    /// Reads the state of the desk whose folder is `dir`.
    pub(crate) fn read(dir: &Path) -> Option<Self> {
        serde_json::from_slice(&std::fs::read(dir.join("desk.json")).ok()?).ok()
    }

    /// Writes it so that a reader sees the old or the new, never half.
    pub(crate) fn write(&self, dir: &Path) -> Result<()> {
        let (new, file) = (dir.join("desk.json.new"), dir.join("desk.json"));
        let text = serde_json::to_vec(self).map_err(|e| DeskError::start("the desk", e))?;
        std::fs::write(&new, text).map_err(DeskError::io("write", &new))?;
        std::fs::rename(&new, &file).map_err(DeskError::io("write", &file))
    }
}

/// Milliseconds since 1970.
pub(crate) fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_millis().try_into().unwrap_or(u64::MAX))
}

/// `N` bytes nobody can guess.
pub(crate) fn random<const N: usize>() -> Result<[u8; N]> {
    let mut bytes = [0; N];
    let mut filled = 0;
    while filled < N {
        filled += rustix::rand::getrandom(&mut bytes[filled..], rustix::rand::GetRandomFlags::empty())
            .map_err(|e| DeskError::start("the desk", format!("no random numbers: {e}")))?;
    }
    Ok(bytes)
}

/// The same, written in hexadecimal.
pub(crate) fn random_hex() -> Result<String> {
    Ok(random::<8>()?.iter().map(|b| format!("{b:02x}")).collect())
}
