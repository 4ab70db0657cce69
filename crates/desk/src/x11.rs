//! What is said to the desk's X server, and the key it asks for.

use std::fs;
use std::io::Write;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use x11rb::connection::Connection;
use x11rb::protocol::randr::{ConnectionExt as _, MonitorInfo};
use x11rb::protocol::xproto::{
    AtomEnum, ChangeWindowAttributesAux, ConnectionExt as _, CreateWindowAux, ImageFormat, ImageOrder,
    WindowClass,
};
use x11rb::reexports::x11rb_protocol::parse_display::ConnectAddress;
use x11rb::rust_connection::{DefaultStream, RustConnection};

use crate::error::{DeskError, Result};
use crate::options::Options;
use crate::procs;
use crate::state::random;

const COOKIE: &str = "MIT-MAGIC-COOKIE-1";
/// What Xvfb says when another server has its number.
pub(crate) const NUMBER_TAKEN: &str = "already running";
/// Login managers count from 0, `ssh -X` from 10.
const FIRST_NUMBER: u32 = 100;
const NUMBERS: u32 = 900;
const FAMILY_LOCAL: u16 = 256;
const FAMILY_WILD: u16 = 0xffff;
/// A stopped X server would otherwise hold us for ever.
const ANSWER: Duration = Duration::from_secs(10);
/// How long a probe window waits to be managed before another is tried.
const PROBE: Duration = Duration::from_millis(60);
/// Pixels are fetched in strips, so that the reply stays small on a large desk.
const STRIP_BYTES: usize = 8 << 20;

/// The colour of the empty screen.
const EMPTY: u32 = 0x2b_3a_42;

/// A connection to the desk's X server.
pub(crate) type Display = RustConnection<DefaultStream>;

/// Writes the key file. `number` is the display's, or empty for the server itself, which does not
/// look at it. `xauth` would do the same but need not be installed.
pub(crate) fn write_key(path: &Path, number: &str, cookie: &[u8]) -> Result<()> {
    let host = rustix::system::uname().nodename().to_bytes().to_vec();
    let mut bytes = Vec::new();
    for (family, address) in [(FAMILY_LOCAL, host.as_slice()), (FAMILY_WILD, b"")] {
        bytes.extend(family.to_be_bytes());
        for field in [address, number.as_bytes(), COOKIE.as_bytes(), cookie] {
            bytes.extend(u16::try_from(field.len()).unwrap_or(0).to_be_bytes());
            bytes.extend(field);
        }
    }
    let new = path.with_extension("new");
    fs::OpenOptions::new()
        .create(true)
        .truncate(true)
        .write(true)
        .mode(0o600)
        .open(&new)
        .and_then(|mut file| file.write_all(&bytes))
        .and_then(|()| fs::rename(&new, path))
        .map_err(DeskError::io("write", path))
}

/// Reads the key back from a file written by [`write_key`].
pub(crate) fn read_key(path: &Path) -> Result<Vec<u8>> {
    let bytes = fs::read(path).map_err(DeskError::io("read", path))?;
    // The cookie is the last field of the last entry.
    Ok(bytes[bytes.len().saturating_sub(16)..].to_vec())
}

/// Runs `ask` with a time limit.
pub(crate) fn within<T: Send + 'static>(ask: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
    let (send, receive) = mpsc::sync_channel(1);
    std::thread::spawn(move || {
        let _ = send.send(ask());
    });
    receive.recv_timeout(ANSWER).unwrap_or_else(|_| {
        Err(DeskError::Timeout {
            what: "the desk's X server did not answer".into(),
            seconds: ANSWER.as_secs(),
        })
    })
}

/// Connects to a display of this machine. Hands the key over itself rather than by environment, as
/// this process may well live on another display.
pub(crate) fn connect(display: &str, cookie: Vec<u8>) -> Result<Display> {
    let bad = |e: &dyn std::fmt::Display| DeskError::Display(format!("{display}: {e}"));
    let number: u32 = display
        .strip_prefix(':')
        .and_then(|n| n.parse().ok())
        .ok_or_else(|| bad(&"not a display of this machine"))?;
    let address = ConnectAddress::Socket(socket(number).to_string_lossy().into_owned());
    let (stream, _) = DefaultStream::connect(&address).map_err(|e| bad(&e))?;
    RustConnection::connect_to_stream_with_auth_info(stream, 0, COOKIE.into(), cookie).map_err(|e| bad(&e))
}

fn said(error: impl std::fmt::Display) -> DeskError {
    DeskError::Display(error.to_string())
}

/// Divides the screen into the two monitors of `options`. With one monitor the server's own is right.
pub(crate) fn set_monitors(x: &Display, options: &Options) -> Result<()> {
    let Some(second) = options.second else { return Ok(()) };
    let root = x.setup().roots[0].root;
    let outputs = x.randr_get_screen_resources_current(root).map_err(said)?.reply().map_err(said)?.outputs;
    let millimetres = |pixels: u32| pixels * 254 / (options.dpi * 10);
    // Sizes were checked against MAX_SIDE, so that they fit.
    let short = |pixels: u32| u16::try_from(pixels).unwrap_or(u16::MAX);
    let left = (options.size, 0, outputs, "left", true);
    let right = (second, options.size.width, Vec::new(), "right", false);
    for (size, x_offset, outputs, name, primary) in [left, right] {
        let name = x.intern_atom(false, name.as_bytes()).map_err(said)?.reply().map_err(said)?.atom;
        let monitor = MonitorInfo {
            name,
            primary,
            automatic: false,
            x: i16::try_from(x_offset).unwrap_or(i16::MAX),
            y: 0,
            width: short(size.width),
            height: short(size.height),
            width_in_millimeters: millimetres(size.width),
            height_in_millimeters: millimetres(size.height),
            outputs,
        };
        x.randr_set_monitor(root, monitor).map_err(said)?.check().map_err(said)?;
    }
    Ok(())
}

/// Gives the empty screen a colour, so that it can be told from a picture that failed.
pub(crate) fn paint(x: &Display) -> Result<()> {
    let root = x.setup().roots[0].root;
    let colour = ChangeWindowAttributesAux::new().background_pixel(EMPTY);
    x.change_window_attributes(root, &colour).map_err(said)?;
    x.clear_area(false, root, 0, 0, 0, 0).map_err(said)?;
    x.flush().map_err(said)
}

/// Waits until a window manager has taken the screen; `go_on` may end the wait with an error.
pub(crate) fn wait_for_manager(
    x: &Display,
    deadline: Instant,
    mut go_on: impl FnMut() -> Result<()>,
) -> Result<()> {
    let root = x.setup().roots[0].root;
    let atom = x.intern_atom(false, b"_NET_SUPPORTING_WM_CHECK").map_err(said)?.reply().map_err(said)?.atom;
    loop {
        let check = x.get_property(false, root, atom, AtomEnum::WINDOW, 0, 1).map_err(said)?;
        if check.reply().map_err(said)?.value_len == 1 {
            break;
        }
        pause(deadline, &mut go_on)?;
    }
    manages(x, deadline, &mut go_on)
}

/// The window manager says it is there a little before it handles windows, and one mapped in between
/// is never managed. So a window of ours is mapped again and again until it is listed.
fn manages(x: &Display, deadline: Instant, go_on: &mut impl FnMut() -> Result<()>) -> Result<()> {
    let screen = &x.setup().roots[0];
    let list = x.intern_atom(false, b"_NET_CLIENT_LIST").map_err(said)?.reply().map_err(said)?.atom;
    loop {
        let probe = x.generate_id().map_err(said)?;
        let aux = CreateWindowAux::new();
        let class = WindowClass::INPUT_OUTPUT;
        x.create_window(screen.root_depth, probe, screen.root, 0, 0, 1, 1, 0, class, 0, &aux)
            .map_err(said)?;
        x.map_window(probe).map_err(said)?;
        let until = Instant::now() + PROBE;
        let mut listed = false;
        while !listed && Instant::now() < until {
            let property = x.get_property(false, screen.root, list, AtomEnum::WINDOW, 0, 64).map_err(said)?;
            listed = property.reply().map_err(said)?.value32().is_some_and(|mut all| all.any(|w| w == probe));
            if !listed {
                pause(deadline, go_on)?;
            }
        }
        x.destroy_window(probe).map_err(said)?;
        x.get_input_focus().map_err(said)?.reply().map_err(said)?;
        if listed {
            return Ok(());
        }
    }
}

fn pause(deadline: Instant, go_on: &mut impl FnMut() -> Result<()>) -> Result<()> {
    go_on()?;
    if Instant::now() > deadline {
        return Err(DeskError::start("openbox", "it did not take the screen in time"));
    }
    std::thread::sleep(Duration::from_millis(2));
    Ok(())
}

/// The whole screen as a PNG.
pub(crate) fn screenshot(display: &str, cookie: Vec<u8>) -> Result<Vec<u8>> {
    let x = connect(display, cookie)?;
    let setup = x.setup();
    let screen = &setup.roots[0];
    if screen.root_depth != 24 || setup.image_byte_order != ImageOrder::LSB_FIRST {
        return Err(said(format!("a screen of depth {} is not one of ours", screen.root_depth)));
    }
    let (width, height) = (screen.width_in_pixels, screen.height_in_pixels);
    let rows = (STRIP_BYTES / (usize::from(width) * 4)).clamp(1, usize::from(height));
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, width.into(), height.into());
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_compression(png::Compression::Fast);
    let mut writer = encoder.write_header().map_err(said)?;
    let mut stream = writer.stream_writer().map_err(said)?;
    let mut top = 0;
    while top < height {
        let rows = u16::try_from(rows).unwrap_or(u16::MAX).min(height - top);
        let image = x
            .get_image(
                ImageFormat::Z_PIXMAP,
                screen.root,
                0,
                i16::try_from(top).unwrap_or(0),
                width,
                rows,
                !0,
            )
            .map_err(said)?
            .reply()
            .map_err(said)?;
        let rgb: Vec<u8> = image.data.chunks_exact(4).flat_map(|p| [p[2], p[1], p[0]]).collect();
        stream.write_all(&rgb).map_err(said)?;
        top += rows;
    }
    stream.finish().map_err(said)?;
    writer.finish().map_err(said)?;
    Ok(file)
}

/// Removes the socket, and the lock file if there is one, of an X server of ours that was killed and
/// could not do it itself. `-displayfd` keeps Xvfb from writing a lock file, other versions may.
pub(crate) fn remove_leftovers(number: u32, x_pid: Option<u32>) {
    let me = rustix::process::geteuid().as_raw();
    let is_mine = |path: &Path| fs::symlink_metadata(path).is_ok_and(|meta| meta.uid() == me);
    let socket = socket(number);
    // Another server may have the number by now; then its socket answers.
    let dead = |error: std::io::Error| error.kind() == std::io::ErrorKind::ConnectionRefused;
    if is_mine(&socket) && UnixStream::connect(&socket).is_err_and(dead) {
        let _ = fs::remove_file(&socket);
    }
    let lock = Path::new("/tmp").join(format!(".X{number}-lock"));
    let holder = fs::read_to_string(&lock).ok().and_then(|text| text.trim().parse::<u32>().ok());
    if holder.is_some() && holder == x_pid && is_mine(&lock) && !holder.is_some_and(procs::is_alive) {
        let _ = fs::remove_file(&lock);
    }
}

/// A display number nobody seems to use. Whether it really is free the server finds out.
pub(crate) fn draw_number() -> Result<u32> {
    for _ in 0..64 {
        let number = FIRST_NUMBER + u32::from(u16::from_ne_bytes(random()?)) % NUMBERS;
        if !socket(number).exists() {
            return Ok(number);
        }
    }
    Err(DeskError::start("the X server", "all display numbers are taken"))
}

fn socket(number: u32) -> PathBuf {
    Path::new("/tmp/.X11-unix").join(format!("X{number}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_comes_back_and_is_closed_to_others() {
        let base = tempfile::tempdir().unwrap();
        let path = base.path().join("Xauthority");
        let cookie: Vec<u8> = (1..=16).collect();
        write_key(&path, "17", &cookie).unwrap();
        assert_eq!(read_key(&path).unwrap(), cookie);
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
    }
}
