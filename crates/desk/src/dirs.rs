//! The folders and the lock of a desk.
//!
//! `desks/NAME.lock` is locked by the supervisor as long as it lives: the kernel lets go of it
//! however the supervisor ends, so a lock nobody holds marks a desk that is dead. `desks/NAME/` holds
//! everything else.

use std::fs::{self, DirBuilder, File, TryLockError};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use deskhand_config::Home;

use crate::error::{DeskError, Result};
use crate::state::random_hex;

/// A socket's path takes 107 bytes; this leaves room for what programs put into the runtime folder.
const MAX_RUNTIME_PATH: usize = 70;
/// A look at a lock takes it for a moment; somebody who really wants it tries again.
const LOCK_TRIES: u32 = 5;

/// The name of a desk, held.
#[derive(Debug)]
pub(crate) struct Claim {
    file: File,
    path: PathBuf,
    /// The desk's folder.
    pub(crate) dir: PathBuf,
}

impl Claim {
    /// Takes the name if no living desk has it. What a dead desk left is still there.
    pub(crate) fn take(desks: &Path, name: &str, patient: bool) -> Result<Option<Self>> {
        let path = desks.join(format!("{name}.lock"));
        let tries = if patient { LOCK_TRIES } else { 1 };
        for attempt in 0..tries {
            if attempt > 0 {
                std::thread::sleep(Duration::from_millis(10));
            }
            let file = File::options()
                .create(true)
                .truncate(false)
                .write(true)
                .open(&path)
                .map_err(DeskError::io("open", &path))?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => continue,
                Err(TryLockError::Error(source)) => return Err(DeskError::io("lock", &path)(source)),
            }
            // Its last holder may have removed it between our open and our lock; then what we hold
            // is a file without a name, and somebody else may hold the name.
            let held = file.metadata().map_err(DeskError::io("read", &path))?;
            if fs::metadata(&path).is_ok_and(|named| named.ino() == held.ino() && named.dev() == held.dev()) {
                return Ok(Some(Self { file, path, dir: desks.join(name) }));
            }
        }
        Ok(None)
    }

    /// Gives the name back.
    pub(crate) fn release(self) -> Result<()> {
        let removed = fs::remove_file(&self.path);
        drop(self.file);
        removed.map_err(DeskError::io("remove", &self.path))
    }
}

/// Whether a living supervisor holds the name.
pub(crate) fn is_held(desks: &Path, name: &str) -> bool {
    let Ok(file) = File::open(desks.join(format!("{name}.lock"))) else { return false };
    matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock))
}

/// The folder of all desks, made if need be.
pub(crate) fn desks(home: &Home) -> Result<PathBuf> {
    home.ensure()?;
    let desks = home.desks_dir();
    private(&desks)?;
    Ok(desks)
}

/// Makes a folder only we can read.
pub(crate) fn private(dir: &Path) -> Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(dir).map_err(DeskError::io("make", dir))
}

/// A folder for sockets: in the desk's own folder, unless that lies too deep for a socket's path.
pub(crate) fn runtime(dir: &Path) -> Result<PathBuf> {
    let inside = dir.join("run");
    let runtime = if inside.as_os_str().len() <= MAX_RUNTIME_PATH {
        inside
    } else {
        std::env::temp_dir().join(format!("deskhand-{}", random_hex()?))
    };
    // Not recursive: it must not be there yet, or it might be somebody else's.
    DirBuilder::new().mode(0o700).create(&runtime).map_err(DeskError::io("make", &runtime))?;
    Ok(runtime)
}

/// Removes a folder and all in it, but never what is mounted there: programs mount the person's own
/// files in a runtime folder (gvfs, the document portal), and those must outlive the desk.
pub(crate) fn remove_tree(dir: &Path) -> Result<()> {
    let meta = match fs::symlink_metadata(dir) {
        Ok(meta) => meta,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(DeskError::io("remove", dir)(error)),
    };
    unmount_under(dir);
    remove_on_device(dir, meta.dev())
}

fn remove_on_device(path: &Path, device: u64) -> Result<()> {
    let meta = fs::symlink_metadata(path).map_err(DeskError::io("remove", path))?;
    if !meta.is_dir() {
        return fs::remove_file(path).map_err(DeskError::io("remove", path));
    }
    if meta.dev() != device {
        let busy = std::io::Error::new(std::io::ErrorKind::ResourceBusy, "something is mounted there");
        return Err(DeskError::io("remove", path)(busy));
    }
    for entry in fs::read_dir(path).map_err(DeskError::io("remove", path))?.flatten() {
        remove_on_device(&entry.path(), device)?;
    }
    fs::remove_dir(path).map_err(DeskError::io("remove", path))
}

/// Lets go of user mounts whose server has ended with the desk.
fn unmount_under(dir: &Path) {
    let Ok(mounts) = fs::read_to_string("/proc/self/mounts") else { return };
    for point in mounts.lines().filter_map(|line| line.split(' ').nth(1)) {
        if !Path::new(point).starts_with(dir) {
            continue;
        }
        for program in ["fusermount3", "fusermount"] {
            let done = Command::new(program)
                .args(["-u", "-z", point])
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .status();
            if done.is_ok_and(|status| status.success()) {
                break;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_held_once_and_comes_back() {
        let base = tempfile::tempdir().unwrap();
        let claim = Claim::take(base.path(), "a", true).unwrap().unwrap();
        assert!(is_held(base.path(), "a"));
        assert!(Claim::take(base.path(), "a", true).unwrap().is_none());
        assert!(Claim::take(base.path(), "b", true).unwrap().is_some());
        claim.release().unwrap();
        assert!(!is_held(base.path(), "a"));
        assert!(!base.path().join("a.lock").exists());
        assert!(Claim::take(base.path(), "a", true).unwrap().is_some());
    }

    #[test]
    fn a_deep_home_gets_a_short_runtime_folder() {
        let base = tempfile::tempdir().unwrap();
        let deep = base.path().join("d".repeat(90));
        fs::create_dir(&deep).unwrap();
        let runtime = runtime(&deep).unwrap();
        assert!(runtime.as_os_str().len() <= MAX_RUNTIME_PATH);
        assert_eq!(fs::metadata(&runtime).unwrap().mode() & 0o777, 0o700);
        remove_tree(&runtime).unwrap();
        assert!(!runtime.exists());
    }

    #[test]
    fn removal_does_not_follow_links() {
        let base = tempfile::tempdir().unwrap();
        let (kept, dir) = (base.path().join("kept"), base.path().join("dir"));
        fs::write(&kept, "").unwrap();
        fs::create_dir_all(dir.join("a/b")).unwrap();
        std::os::unix::fs::symlink(base.path(), dir.join("a/link")).unwrap();
        remove_tree(&dir).unwrap();
        assert!(kept.exists() && !dir.exists());
        remove_tree(&dir).unwrap();
    }
}
