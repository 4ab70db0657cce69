//! The file of callers: which further programs may use the bridge.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::hash::HashCache;

/// Largest file read.
const MAX_FILE_BYTES: u64 = 1024 * 1024;
/// Most entries in it.
const MAX_CALLERS: usize = 1000;

/// A program that may use the bridge.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Caller {
    /// Its absolute path, without links.
    pub path: PathBuf,
    /// Its SHA-256, in lower-case hexadecimal.
    pub sha256: String,
    /// Why it is here, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct CallersFile {
    callers: Vec<Caller>,
}

/// What can be wrong with the file of callers.
#[derive(Debug, thiserror::Error)]
pub enum CallersError {
    /// It cannot be read or written.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// It is not what it should be; the message has line and column.
    #[error("{path}: {source}")]
    Json {
        /// The file.
        path: PathBuf,
        /// Where and what.
        source: serde_json::Error,
    },
    /// An entry is wrong.
    #[error("{path}: callers[{index}].{field}: {what}")]
    Entry {
        /// The file.
        path: PathBuf,
        /// Which entry, from 0.
        index: usize,
        /// Which field.
        field: &'static str,
        /// What is wrong with it.
        what: String,
    },
    /// Others could have written it.
    #[error("{path}: {what}; make it yours alone: chmod 600")]
    Open {
        /// The file.
        path: PathBuf,
        /// Who else can write it.
        what: String,
    },
    /// It is too large.
    #[error("{path}: more than {MAX_FILE_BYTES} bytes or {MAX_CALLERS} callers")]
    TooLarge {
        /// The file.
        path: PathBuf,
    },
}

impl From<CallersError> for deskhand_protocol::Error {
    fn from(error: CallersError) -> Self {
        Self::new(deskhand_protocol::ErrorCode::InvalidInput, error.to_string())
            .hint("`deskhand callers` shows and changes the list of programs that may use the bridge")
    }
}

/// The entries of the file; none when there is no file.
pub fn list(file: &Path) -> Result<Vec<Caller>, CallersError> {
    let io = |source| CallersError::Io { path: file.to_owned(), source };
    let opened = match File::open(file) {
        Ok(opened) => opened,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(io(error)),
    };
    let meta = opened.metadata().map_err(io)?;
    if meta.uid() != rustix::process::geteuid().as_raw() {
        let what = format!("it belongs to uid {}", meta.uid());
        return Err(CallersError::Open { path: file.to_owned(), what });
    }
    if meta.permissions().mode() & 0o022 != 0 {
        let what = format!("its mode is {:o}, others may write it", meta.permissions().mode() & 0o777);
        return Err(CallersError::Open { path: file.to_owned(), what });
    }
    let mut text = Vec::new();
    opened.take(MAX_FILE_BYTES + 1).read_to_end(&mut text).map_err(io)?;
    if text.len() as u64 > MAX_FILE_BYTES {
        return Err(CallersError::TooLarge { path: file.to_owned() });
    }
    let parsed: CallersFile = serde_json::from_slice(&text)
        .map_err(|source| CallersError::Json { path: file.to_owned(), source })?;
    if parsed.callers.len() > MAX_CALLERS {
        return Err(CallersError::TooLarge { path: file.to_owned() });
    }
    for (index, caller) in parsed.callers.iter().enumerate() {
        let wrong = |field, what| Err(CallersError::Entry { path: file.to_owned(), index, field, what });
        if !caller.path.is_absolute() {
            return wrong("path", format!("{:?} is not an absolute path", caller.path));
        }
        if caller.sha256.len() != 64 || !caller.sha256.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
        {
            return wrong(
                "sha256",
                format!("{:?} is not 64 digits 0-9a-f", crate::request::clip(&caller.sha256)),
            );
        }
    }
    Ok(parsed.callers)
}

/// Adds a program as it is now, or renews its hash. Links are resolved, since the kernel names
/// programs by their real path.
pub fn allow(file: &Path, program: &Path, note: Option<&str>) -> Result<Caller, CallersError> {
    let io = |source| CallersError::Io { path: program.to_owned(), source };
    let path = program.canonicalize().map_err(io)?;
    let mut opened = File::open(&path).map_err(io)?;
    let (_, sha256) = HashCache::default().sha256(&mut opened).map_err(io)?;
    let mut callers = list(file)?;
    let caller = Caller { path, sha256, note: note.map(str::to_owned) };
    callers.retain(|known| known.path != caller.path);
    if callers.len() >= MAX_CALLERS {
        return Err(CallersError::TooLarge { path: file.to_owned() });
    }
    callers.push(caller.clone());
    write(file, callers)?;
    Ok(caller)
}

/// Removes a program; says whether it was there. The program itself need not exist any more.
pub fn remove(file: &Path, program: &Path) -> Result<bool, CallersError> {
    let real = program.canonicalize().ok();
    let mut callers = list(file)?;
    let before = callers.len();
    callers.retain(|known| known.path != program && Some(&known.path) != real.as_ref());
    let found = callers.len() < before;
    if found {
        write(file, callers)?;
    }
    Ok(found)
}

/// Written beside and renamed over, so that a reader sees the old list or the new one.
fn write(file: &Path, callers: Vec<Caller>) -> Result<(), CallersError> {
    let io = |source| CallersError::Io { path: file.to_owned(), source };
    let mut text = serde_json::to_vec_pretty(&CallersFile { callers })
        .map_err(|source| CallersError::Json { path: file.to_owned(), source })?;
    text.push(b'\n');
    let mut name = file.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.new", std::process::id()));
    let beside = file.with_file_name(name);
    let written = (|| {
        let mut new = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&beside)?;
        new.set_permissions(std::fs::Permissions::from_mode(0o600))?;
        new.write_all(&text)?;
        new.sync_all()?;
        std::fs::rename(&beside, file)
    })();
    written.map_err(|error| {
        let _ = std::fs::remove_file(&beside);
        io(error)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_added_renewed_and_removed() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("callers.json");
        assert_eq!(list(&file).unwrap(), []);
        let program = dir.path().canonicalize().unwrap().join("program");
        std::fs::write(&program, "one").unwrap();
        let link = dir.path().join("link");
        std::os::unix::fs::symlink(&program, &link).unwrap();
        let first = allow(&file, &link, Some("mine")).unwrap();
        assert_eq!(first.path, program);
        assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        std::fs::write(&program, "two").unwrap();
        let second = allow(&file, &program, None).unwrap();
        assert_ne!(first.sha256, second.sha256);
        assert_eq!(list(&file).unwrap(), [second]);
        std::fs::remove_file(&program).unwrap();
        assert!(remove(&file, &program).unwrap());
        assert!(!remove(&file, &program).unwrap());
        assert_eq!(list(&file).unwrap(), []);
        assert!(allow(&file, &program, None).is_err());
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 2, "callers.json and the link");
    }

    #[test]
    fn a_wrong_file_says_where() {
        let hash = "0".repeat(64);
        let cases = [
            ("", "line 1 column 0"),
            ("{\"callers\":[\n{\"path\":1}]}", "line 2 column 9"),
            ("{\"callers\":[],\n\"x\":1}", "unknown field `x`, expected `callers` at line 2"),
            ("{\"callers\":[{\"path\":\"/a\",\"sha256\":\"00\"}]}", "callers[0].sha256: \"00\" is not 64"),
            (
                &format!("{{\"callers\":[{{\"path\":\"a\",\"sha256\":\"{hash}\"}}]}}"),
                "callers[0].path: \"a\" is not an",
            ),
            (
                &format!("{{\"callers\":[{{\"path\":\"/a\",\"sha256\":\"{hash}\",\"hash\":0}}]}}"),
                "unknown field `hash`",
            ),
        ];
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("callers.json");
        for (text, words) in cases {
            std::fs::write(&file, text).unwrap();
            let message = list(&file).unwrap_err().to_string();
            assert!(message.contains(words), "{text}: {message}");
        }
        std::fs::write(&file, "{\"callers\":[]}").unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o666)).unwrap();
        assert!(matches!(list(&file), Err(CallersError::Open { .. })));
    }
}
