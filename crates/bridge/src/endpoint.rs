//! The place of the bridge: one socket, one host, nobody else's.

use std::fs::{DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Read, Seek, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

use deskhand_protocol::{Error, ErrorCode};
use rustix::fs::{FlockOperation, OFlags, flock};

/// What the kernel takes as the path of a socket, without the final NUL.
const MAX_SOCKET_PATH: usize = 107;

/// A socket that listens, held by a lock. Dropping it removes the socket and frees the lock.
#[derive(Debug)]
pub struct Endpoint {
    listener: UnixListener,
    path: PathBuf,
    /// Device and inode of our own socket file: a successor's is not ours to remove.
    made: (u64, u64),
    _lock: File,
}

impl Endpoint {
    /// Takes the lock, clears away a socket left behind by a host that died, and listens.
    ///
    /// The folder is made with mode 0700 if it is missing, and refused if others can enter it.
    /// A second host gets `DESKTOP_HOST_ALREADY_RUNNING` with the pid of the first.
    pub fn bind(socket: &Path, lock: &Path) -> Result<Self, Error> {
        for path in [socket, lock] {
            private_folder(path)?;
        }
        let held = take_lock(lock)?;
        let wrong = |error: io::Error| cannot(socket, &error);
        match std::fs::symlink_metadata(socket) {
            Ok(meta) if meta.file_type().is_socket() => std::fs::remove_file(socket).map_err(wrong)?,
            Ok(_) => return Err(cannot(socket, &io::Error::other("there is a file that is not a socket"))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(wrong(error)),
        }
        // The folder is closed to others, so nobody gets in between these two steps.
        let listener = reach(socket, |path| UnixListener::bind(path)).map_err(wrong)?;
        std::fs::set_permissions(socket, Permissions::from_mode(0o600)).map_err(wrong)?;
        // Inherited by every accepted connection: the kernel then names the writer of each message.
        rustix::net::sockopt::set_socket_passcred(&listener, true).map_err(|error| wrong(error.into()))?;
        let meta = std::fs::symlink_metadata(socket).map_err(wrong)?;
        Ok(Self { listener, path: socket.to_owned(), made: (meta.dev(), meta.ino()), _lock: held })
    }

    /// The path of the socket.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn listener(&self) -> &UnixListener {
        &self.listener
    }
}

impl Endpoint {
    /// Takes no more connections and removes the socket; the lock stays until the drop, so that the
    /// next host begins only when this one has ended. Wakes a thread that waits in `accept`.
    pub(crate) fn close(&self) {
        let _ = rustix::net::shutdown(&self.listener, rustix::net::Shutdown::Both);
        let ours =
            std::fs::symlink_metadata(&self.path).is_ok_and(|meta| (meta.dev(), meta.ino()) == self.made);
        if ours {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

impl Drop for Endpoint {
    fn drop(&mut self) {
        self.close();
    }
}

/// The pid of the host that holds this lock; `None` when nobody does.
#[must_use]
pub fn lock_holder(lock: &Path) -> Option<u32> {
    let mut file = File::open(lock).ok()?;
    match flock(&file, FlockOperation::NonBlockingLockShared) {
        Ok(()) => None,
        Err(_) => read_pid(&mut file),
    }
}

/// Connects to a socket whose path may be longer than the kernel takes.
pub(crate) fn connect(socket: &Path) -> io::Result<UnixStream> {
    reach(socket, |path| UnixStream::connect(path))
}

/// A path that is too long is reached by way of its opened folder.
fn reach<T>(socket: &Path, act: impl FnOnce(&Path) -> io::Result<T>) -> io::Result<T> {
    if socket.as_os_str().len() <= MAX_SOCKET_PATH {
        return act(socket);
    }
    let (Some(folder), Some(name)) = (socket.parent(), socket.file_name()) else {
        return Err(io::Error::from(io::ErrorKind::InvalidInput));
    };
    let flags = i32::try_from((OFlags::PATH | OFlags::DIRECTORY).bits()).unwrap_or(0);
    let folder = OpenOptions::new().read(true).custom_flags(flags).open(folder)?;
    act(&PathBuf::from(format!("/proc/self/fd/{}", folder.as_raw_fd())).join(name))
}

fn private_folder(path: &Path) -> Result<(), Error> {
    let folder = path.parent().unwrap_or(Path::new("/"));
    let wrong = |error: io::Error| cannot(folder, &error);
    if !folder.exists() {
        DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(wrong)?;
    }
    let meta = std::fs::metadata(folder).map_err(wrong)?;
    let me = rustix::process::geteuid().as_raw();
    let mode = meta.permissions().mode() & 0o777;
    if meta.uid() == me && mode & 0o077 == 0 {
        return Ok(());
    }
    Err(Error::new(
        ErrorCode::PermissionMissing,
        format!(
            "{} has mode {mode:o} and belongs to uid {}; it must be 700 and yours (uid {me})",
            folder.display(),
            meta.uid()
        ),
    )
    .hint(format!("chmod 700 {}", folder.display()))
    .detail("path", folder.display().to_string()))
}

fn take_lock(lock: &Path) -> Result<File, Error> {
    let flags = i32::try_from((OFlags::NOFOLLOW | OFlags::CLOEXEC).bits()).unwrap_or(0);
    let mut file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .custom_flags(flags)
        .open(lock)
        .map_err(|error| cannot(lock, &error))?;
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => {}
        Err(rustix::io::Errno::WOULDBLOCK) => {
            let pid = read_pid(&mut file);
            let who = pid.map_or_else(|| "another process".to_owned(), |pid| format!("pid {pid}"));
            let error = Error::new(
                ErrorCode::HostAlreadyRunning,
                format!("{who} already serves this home: it holds {}", lock.display()),
            );
            return Err(match pid {
                Some(pid) => error.detail("pid", pid),
                None => error,
            });
        }
        Err(error) => return Err(cannot(lock, &error.into())),
    }
    // For people and for `lock_holder`; the lock itself is what counts.
    let noted = file.set_len(0).and_then(|()| writeln!(file, "{}", std::process::id()));
    noted.map_err(|error| cannot(lock, &error))?;
    Ok(file)
}

fn read_pid(file: &mut File) -> Option<u32> {
    let mut text = String::new();
    file.rewind().ok()?;
    file.take(32).read_to_string(&mut text).ok()?;
    text.trim().parse().ok()
}

fn cannot(path: &Path, error: &io::Error) -> Error {
    Error::new(ErrorCode::PermissionMissing, format!("{}: {error}", path.display()))
        .hint("the home folder must be writable and yours; DESKHAND_HOME names another")
        .detail("path", path.display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(path: &Path) -> u32 {
        std::fs::symlink_metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn one_host_at_a_time_and_nothing_left_behind() {
        let dir = tempfile::tempdir().unwrap();
        let (socket, lock) = (dir.path().join("run/host.sock"), dir.path().join("run/host.lock"));
        assert_eq!(lock_holder(&lock), None);
        let first = Endpoint::bind(&socket, &lock).unwrap();
        assert_eq!((mode(&socket), mode(&dir.path().join("run")), mode(&lock)), (0o600, 0o700, 0o600));
        assert_eq!(lock_holder(&lock), Some(std::process::id()));
        let error = Endpoint::bind(&socket, &lock).unwrap_err();
        assert_eq!(error.code, ErrorCode::HostAlreadyRunning);
        assert_eq!(error.details["pid"], std::process::id());
        assert!(connect(&socket).is_ok(), "the second left the first alone");
        drop(first);
        assert!(!socket.exists());
        assert_eq!(lock_holder(&lock), None);
        // A socket left behind by a host that was killed.
        drop(UnixListener::bind(&socket).unwrap());
        drop(Endpoint::bind(&socket, &lock).unwrap());
    }

    #[test]
    fn a_folder_open_to_others_and_a_foreign_file_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        let (socket, lock) = (dir.path().join("host.sock"), dir.path().join("host.lock"));
        std::fs::set_permissions(dir.path(), Permissions::from_mode(0o700)).unwrap();
        std::fs::write(&socket, "precious").unwrap();
        assert!(Endpoint::bind(&socket, &lock).unwrap_err().message.contains("not a socket"));
        assert_eq!(std::fs::read(&socket).unwrap(), b"precious");
        std::fs::remove_file(&socket).unwrap();
        std::fs::set_permissions(dir.path(), Permissions::from_mode(0o755)).unwrap();
        let error = Endpoint::bind(&socket, &lock).unwrap_err();
        assert_eq!(error.code, ErrorCode::PermissionMissing);
        assert!(error.message.contains("755"));
    }

    #[test]
    fn a_long_path_works() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("x".repeat(120));
        let (socket, lock) = (folder.join("host.sock"), folder.join("host.lock"));
        let endpoint = Endpoint::bind(&socket, &lock).unwrap();
        assert!(connect(&socket).is_ok());
        drop(endpoint);
        assert!(!socket.exists());
    }
}
