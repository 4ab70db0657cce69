//! The home folder and the places in it.

use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use deskhand_protocol::{Error, ErrorCode};

/// What can be wrong with the home folder.
#[derive(Debug, thiserror::Error)]
pub enum HomeError {
    /// Neither `DESKHAND_HOME` nor `HOME` is set.
    #[error("neither DESKHAND_HOME nor HOME is set")]
    Unknown,
    /// `DESKHAND_HOME` is not an absolute path.
    #[error("DESKHAND_HOME is {0:?}, which is not an absolute path")]
    Relative(PathBuf),
    /// The folder belongs to somebody else.
    #[error("{path} belongs to uid {owner}, not to you")]
    Foreign {
        /// The folder.
        path: PathBuf,
        /// Its owner.
        owner: u32,
    },
    /// The folder cannot be made or read.
    #[error("{path}: {source}")]
    Io {
        /// The folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

impl From<HomeError> for Error {
    fn from(error: HomeError) -> Self {
        Error::new(ErrorCode::InvalidInput, error.to_string())
            .hint("set DESKHAND_HOME to an absolute path of a folder that is yours")
    }
}

/// The home folder. Knowing a path does not create it; [`Home::ensure`] does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Home {
    root: PathBuf,
}

impl Home {
    /// From `DESKHAND_HOME`, else `~/.deskhand`.
    pub fn from_env() -> Result<Self, HomeError> {
        let var = |name| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
        match (var("DESKHAND_HOME"), var("HOME")) {
            (Some(root), _) if root.is_absolute() => Ok(Self { root }),
            (Some(root), _) => Err(HomeError::Relative(root)),
            (None, Some(home)) => Ok(Self { root: home.join(".deskhand") }),
            (None, None) => Err(HomeError::Unknown),
        }
    }

    /// At a given place.
    pub fn at(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// The folder itself.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Sockets, locks, pid files.
    #[must_use]
    pub fn run_dir(&self) -> PathBuf {
        self.root.join("run")
    }

    /// The bridge.
    #[must_use]
    pub fn socket(&self) -> PathBuf {
        self.run_dir().join("host.sock")
    }

    /// Held while a host serves this home.
    #[must_use]
    pub fn host_lock(&self) -> PathBuf {
        self.run_dir().join("host.lock")
    }

    /// Virtual desks, one folder each.
    #[must_use]
    pub fn desks_dir(&self) -> PathBuf {
        self.run_dir().join("desks")
    }

    /// Evidence bundles: `YYYY-MM-DD/<requestId>/`.
    #[must_use]
    pub fn evidence_dir(&self) -> PathBuf {
        self.root.join("artifacts").join("desktop")
    }

    /// Programs that may use the bridge.
    #[must_use]
    pub fn callers_file(&self) -> PathBuf {
        self.root.join("callers.json")
    }

    /// The audit log.
    #[must_use]
    pub fn audit_file(&self) -> PathBuf {
        self.root.join("audit.jsonl")
    }

    /// Logs of processes.
    #[must_use]
    pub fn logs_dir(&self) -> PathBuf {
        self.root.join("logs")
    }

    /// Makes the folder and `run/` with mode 0700, mends a mode that is too open, and refuses a
    /// folder that belongs to somebody else.
    pub fn ensure(&self) -> Result<(), HomeError> {
        for dir in [self.root.clone(), self.run_dir()] {
            private_dir(&dir)?;
        }
        Ok(())
    }
}

/// Makes `dir` (and what is above it) with mode 0700 and checks whose it is.
fn private_dir(dir: &Path) -> Result<(), HomeError> {
    let io = |source| HomeError::Io { path: dir.to_owned(), source };
    DirBuilder::new().recursive(true).mode(0o700).create(dir).map_err(io)?;
    let meta = std::fs::symlink_metadata(dir).map_err(io)?;
    let me = rustix::process::geteuid().as_raw();
    if meta.uid() != me {
        return Err(HomeError::Foreign { path: dir.to_owned(), owner: meta.uid() });
    }
    if meta.is_dir() && meta.permissions().mode() & 0o077 != 0 {
        std::fs::set_permissions(dir, std::fs::Permissions::from_mode(0o700)).map_err(io)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ensure_closes_the_folder_to_others() {
        let base = tempfile::tempdir().unwrap();
        let root = base.path().join("home");
        std::fs::create_dir(&root).unwrap();
        std::fs::set_permissions(&root, std::fs::Permissions::from_mode(0o755)).unwrap();
        let home = Home::at(&root);
        home.ensure().unwrap();
        for dir in [root, home.run_dir()] {
            assert_eq!(std::fs::metadata(dir).unwrap().permissions().mode() & 0o777, 0o700);
        }
    }

    #[test]
    fn ensure_says_when_the_folder_cannot_be_made() {
        let base = tempfile::tempdir().unwrap();
        let file = base.path().join("file");
        std::fs::write(&file, "").unwrap();
        assert!(matches!(Home::at(file.join("home")).ensure(), Err(HomeError::Io { .. })));
    }
}
