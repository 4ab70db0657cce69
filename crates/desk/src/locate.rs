//! Where programs are, and what to install when they are not there.

use std::env;
use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::error::{DeskError, Result};
use crate::options::Options;

/// Where to look when `PATH` is not set at all.
const USUAL_PATH: &str = "/usr/local/bin:/usr/bin:/bin";
const SUPERVISOR: &str = "deskhand-desk";

/// The programs a desk is made of.
#[derive(Debug)]
pub(crate) struct Programs {
    pub(crate) xvfb: PathBuf,
    pub(crate) dbus: PathBuf,
    pub(crate) openbox: PathBuf,
    /// The command line of the accessibility bus, from its D-Bus service file.
    pub(crate) a11y: String,
}

/// One way to install packages: how it is recognised, its line, and the packages by part.
struct Manager {
    program: &'static str,
    line: &'static str,
    /// Xvfb, dbus-daemon, openbox, accessibility bus.
    packages: [&'static str; 4],
}

const MANAGERS: &[Manager] = &[
    Manager {
        program: "/usr/bin/apt-get",
        line: "sudo apt-get install -y",
        packages: ["xvfb", "dbus-daemon", "openbox", "at-spi2-core"],
    },
    Manager {
        program: "/usr/bin/dnf",
        line: "sudo dnf install -y",
        packages: ["xorg-x11-server-Xvfb", "dbus-daemon", "openbox", "at-spi2-core"],
    },
    Manager {
        program: "/usr/bin/pacman",
        line: "sudo pacman -S --needed",
        packages: ["xorg-server-xvfb", "dbus", "openbox", "at-spi2-core"],
    },
    Manager {
        program: "/usr/bin/zypper",
        line: "sudo zypper install -y",
        packages: ["xorg-x11-server-Xvfb", "dbus-1-daemon", "openbox", "at-spi2-core"],
    },
    Manager {
        program: "/sbin/apk",
        line: "sudo apk add",
        packages: ["xvfb", "dbus", "openbox", "at-spi2-core"],
    },
];

/// Finds what `options` needs, or says all that is missing at once.
pub(crate) fn programs(options: &Options) -> Result<Programs> {
    let xvfb = in_path("Xvfb");
    let dbus = in_path("dbus-daemon");
    let openbox = in_path("openbox");
    let a11y = a11y_command();
    let needed = [
        ("Xvfb", xvfb.is_some(), true),
        ("dbus-daemon", dbus.is_some(), true),
        ("openbox", openbox.is_some(), options.window_manager),
        ("at-spi-bus-launcher", a11y.is_some(), options.accessibility),
    ];
    let missing: Vec<usize> = (0..needed.len()).filter(|&i| needed[i].2 && !needed[i].1).collect();
    if !missing.is_empty() {
        let programs = missing.iter().map(|&i| needed[i].0.to_owned()).collect();
        return Err(DeskError::Missing { programs, install: install_line(&missing) });
    }
    Ok(Programs {
        xvfb: xvfb.unwrap_or_default(),
        dbus: dbus.unwrap_or_default(),
        openbox: openbox.unwrap_or_default(),
        a11y: a11y.unwrap_or_default(),
    })
}

fn install_line(missing: &[usize]) -> String {
    let manager = MANAGERS.iter().find(|m| Path::new(m.program).exists()).unwrap_or(&MANAGERS[0]);
    let packages: Vec<_> = missing.iter().map(|&i| manager.packages[i]).collect();
    format!("{} {}", manager.line, packages.join(" "))
}

/// The supervisor: named by `DESKHAND_DESK_BIN`, else beside this program, else in the folder above
/// (test programs live one folder below the others), else in `PATH`.
pub(crate) fn supervisor() -> Result<PathBuf> {
    if let Some(given) = env::var_os("DESKHAND_DESK_BIN").filter(|v| !v.is_empty()) {
        let given = PathBuf::from(given);
        return if is_program(&given) { Ok(given) } else { Err(DeskError::NoSupervisor) };
    }
    let here = env::current_exe().ok();
    here.iter()
        .flat_map(|exe| exe.ancestors().skip(1).take(2))
        .map(|dir| dir.join(SUPERVISOR))
        .find(|path| is_program(path))
        .or_else(|| in_path(SUPERVISOR))
        .ok_or(DeskError::NoSupervisor)
}

/// Looks a program up as a shell would.
pub(crate) fn in_path(program: impl AsRef<OsStr>) -> Option<PathBuf> {
    let program = Path::new(program.as_ref());
    let path = env::var_os("PATH").unwrap_or_else(|| USUAL_PATH.into());
    // An empty entry would mean the working folder, which is nobody's intent here.
    env::split_paths(&path)
        .filter(|dir| !dir.as_os_str().is_empty())
        .map(|dir| dir.join(program))
        .find(|path| is_program(path))
}

fn is_program(path: &Path) -> bool {
    path.metadata().is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0)
}

/// The launcher's path differs between distributions; its service file knows.
fn a11y_command() -> Option<String> {
    let dirs = env::var("XDG_DATA_DIRS").unwrap_or_default();
    let dirs = dirs.split(':').filter(|d| d.starts_with('/')).chain(["/usr/local/share", "/usr/share"]);
    dirs.map(|dir| Path::new(dir).join("dbus-1/services/org.a11y.Bus.service")).find_map(|file| {
        let text = std::fs::read_to_string(file).ok()?;
        let exec = text.lines().find_map(|line| line.trim().strip_prefix("Exec="))?.trim();
        let program = exec.split_ascii_whitespace().next()?;
        is_program(Path::new(program)).then(|| exec.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_install_line_names_only_what_is_missing() {
        let line = install_line(&[0, 3]);
        assert!(line.contains("at-spi2-core") && line.to_lowercase().contains("xvfb"), "{line}");
        assert!(!line.contains("openbox"), "{line}");
    }

    #[test]
    fn path_is_searched_for_programs_only() {
        assert!(in_path("sh").is_some());
        assert_eq!(in_path("deskhand-no-such-program"), None);
        assert!(!is_program(Path::new("/usr")));
    }
}
