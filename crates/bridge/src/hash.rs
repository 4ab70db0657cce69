//! The hash of an opened file, remembered as long as the file stays what it was.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::sync::{Mutex, PoisonError};

use sha2::{Digest, Sha256};

/// Largest program that is hashed.
const MAX_BYTES: u64 = 1024 * 1024 * 1024;
/// Hashes remembered.
const MAX_ENTRIES: usize = 256;
/// A file changed more recently than this may change again without its times showing it.
const SETTLED_SECONDS: i64 = 2;

/// What tells one state of a file from another. Nobody but root can set `ctime`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Identity {
    dev: u64,
    ino: u64,
    size: u64,
    mtime: (i64, i64),
    ctime: (i64, i64),
}

impl Identity {
    /// Of an opened file.
    pub fn of(file: &File) -> io::Result<Self> {
        let meta = file.metadata()?;
        if !meta.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
        }
        Ok(Self {
            dev: meta.dev(),
            ino: meta.ino(),
            size: meta.size(),
            mtime: (meta.mtime(), meta.mtime_nsec()),
            ctime: (meta.ctime(), meta.ctime_nsec()),
        })
    }
}

/// Hashes by identity, bounded.
#[derive(Debug, Default)]
pub struct HashCache {
    entries: Mutex<HashMap<Identity, String>>,
}

impl HashCache {
    /// SHA-256 of the opened file, in lower-case hexadecimal, with the identity it belongs to.
    pub fn sha256(&self, file: &mut File) -> io::Result<(Identity, String)> {
        let identity = Identity::of(file)?;
        if let Some(hash) = self.lock().get(&identity) {
            return Ok((identity, hash.clone()));
        }
        let hash = sha256(file, identity.size)?;
        if Identity::of(file)? != identity {
            return Err(io::Error::other("the file changed while it was read"));
        }
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        let now = i64::try_from(now.as_secs()).unwrap_or(i64::MAX);
        if now.saturating_sub(identity.ctime.0) > SETTLED_SECONDS {
            let mut entries = self.lock();
            if entries.len() >= MAX_ENTRIES {
                entries.clear();
            }
            entries.insert(identity, hash.clone());
        }
        Ok((identity, hash))
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<Identity, String>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn sha256(file: &mut File, size: u64) -> io::Result<String> {
    if size > MAX_BYTES {
        return Err(io::Error::other(format!("{size} bytes are too many to hash, the limit is {MAX_BYTES}")));
    }
    let mut hasher = Sha256::new();
    let mut chunk = vec![0; 128 * 1024];
    let mut left = MAX_BYTES;
    let mut file = file.take(MAX_BYTES + 1);
    loop {
        match file.read(&mut chunk) {
            Ok(0) => break,
            Ok(count) => {
                left = left.checked_sub(count as u64).ok_or_else(|| io::Error::other("the file grows"))?;
                hasher.update(&chunk[..count]);
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(hex(&hasher.finalize()))
}

/// Lower-case hexadecimal.
pub(crate) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_file_has_another_hash() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("program");
        let cache = HashCache::default();
        std::fs::write(&path, "abc").unwrap();
        let first = cache.sha256(&mut File::open(&path).unwrap()).unwrap().1;
        assert_eq!(first, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        std::fs::write(&path, "abd").unwrap();
        assert_ne!(cache.sha256(&mut File::open(&path).unwrap()).unwrap().1, first);
    }

    #[test]
    fn a_settled_file_is_hashed_once() {
        let cache = HashCache::default();
        let mut exe = File::open("/proc/self/exe").unwrap();
        let identity = Identity::of(&exe).unwrap();
        cache.lock().insert(identity, "remembered".to_owned());
        assert_eq!(cache.sha256(&mut exe).unwrap().1, "remembered");
    }

    #[test]
    fn a_folder_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        assert!(HashCache::default().sha256(&mut File::open(dir.path()).unwrap()).is_err());
    }
}
