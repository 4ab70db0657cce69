//! Desktop files: what is installed and how it is started.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use crate::process;

/// Desktop files read at most.
const MOST: usize = 4096;
/// Largest desktop file read.
const LARGEST: u64 = 256 * 1024;

/// One program of the menu.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) other_names: Vec<String>,
    pub(super) exec: Vec<String>,
    pub(super) terminal: bool,
    pub(super) wm_class: Option<String>,
    pub(super) hidden: bool,
}

impl Entry {
    /// The program's file name.
    pub(super) fn program(&self) -> String {
        // `env A=1 prog` is written in many desktop files.
        let mut words = self.exec.iter().map(String::as_str);
        let mut first = words.next().unwrap_or_default();
        if file_name(first) == "env" {
            first = words.find(|w| !w.contains('=') && !w.starts_with('-')).unwrap_or(first);
        }
        file_name(first).to_owned()
    }
}

pub(super) fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// The folders with desktop files, the most important first.
fn folders() -> Vec<PathBuf> {
    let data_home = std::env::var_os("XDG_DATA_HOME")
        .map(PathBuf::from)
        .or_else(|| std::env::var_os("HOME").map(|h| PathBuf::from(h).join(".local/share")));
    let data_dirs = std::env::var("XDG_DATA_DIRS").ok().filter(|d| !d.is_empty());
    let data_dirs = data_dirs.unwrap_or_else(|| "/usr/local/share:/usr/share".into());
    data_home
        .into_iter()
        .chain(data_dirs.split(':').filter(|d| !d.is_empty()).map(PathBuf::from))
        .map(|d| d.join("applications"))
        .collect()
}

/// Every program of the menu, also those it does not show.
pub(super) fn all() -> Vec<Entry> {
    let mut seen = HashSet::new();
    let mut out = Vec::new();
    for folder in folders() {
        collect(&folder, &folder, 0, &mut seen, &mut out);
    }
    out
}

fn collect(root: &Path, folder: &Path, depth: usize, seen: &mut HashSet<String>, out: &mut Vec<Entry>) {
    let Ok(files) = std::fs::read_dir(folder) else { return };
    for file in files.flatten() {
        if out.len() >= MOST {
            return;
        }
        let path = file.path();
        if path.is_dir() {
            if depth < 3 {
                collect(root, &path, depth + 1, seen, out);
            }
            continue;
        }
        if path.extension().is_none_or(|e| e != "desktop") {
            continue;
        }
        let id =
            path.strip_prefix(root).unwrap_or(&path).with_extension("").to_string_lossy().replace('/', "-");
        // A file of the same id in a more important folder wins, even when it only hides.
        if !seen.insert(id.clone()) {
            continue;
        }
        if std::fs::metadata(&path).is_ok_and(|m| m.len() <= LARGEST)
            && let Ok(bytes) = std::fs::read(&path)
            && let Some(entry) = parse(&id, &String::from_utf8_lossy(&bytes))
        {
            out.push(entry);
        }
    }
}

/// Reads one desktop file; `None` when it starts nothing here.
pub(super) fn parse(id: &str, text: &str) -> Option<Entry> {
    let mut entry = Entry { id: id.to_owned(), ..Entry::default() };
    let mut inside = false;
    for line in text.lines() {
        let line = line.trim();
        if line.starts_with('[') {
            if inside {
                break; // Further groups are actions of the program.
            }
            inside = line == "[Desktop Entry]";
            continue;
        }
        let Some((key, value)) = line.split_once('=') else { continue };
        if !inside || line.starts_with('#') {
            continue;
        }
        let (key, value) = (key.trim(), unescape(value.trim()));
        match key {
            "Type" if value != "Application" => return None,
            "Name" => entry.name = value,
            "Exec" => entry.exec = split(&value)?,
            "TryExec" if process::find_program(&value).is_none() => return None,
            "NoDisplay" => entry.hidden = value == "true",
            "Hidden" if value == "true" => return None,
            "Terminal" => entry.terminal = value == "true",
            "StartupWMClass" => entry.wm_class = Some(value),
            _ if key.starts_with("Name[") && !entry.other_names.contains(&value) => {
                entry.other_names.push(value);
            }
            _ => {}
        }
    }
    (!entry.exec.is_empty() && !entry.name.is_empty()).then_some(entry)
}

fn unescape(value: &str) -> String {
    let mut out = String::with_capacity(value.len());
    let mut chars = value.chars();
    while let Some(c) = chars.next() {
        match (c, c == '\\') {
            (_, true) => match chars.next() {
                Some('s') => out.push(' '),
                Some('n') => out.push('\n'),
                Some('t') => out.push('\t'),
                Some('r') => out.push('\r'),
                Some('\\') => out.push('\\'),
                Some(other) => out.extend(['\\', other]),
                None => out.push('\\'),
            },
            (c, false) => out.push(c),
        }
    }
    out
}

/// Splits an `Exec` line into words by the specification's quoting; `None` when a quote never ends.
pub(super) fn split(line: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match c {
            '"' => {
                let word = word.get_or_insert_with(String::new);
                loop {
                    match chars.next()? {
                        '"' => break,
                        '\\' => word.push(chars.next()?),
                        c => word.push(c),
                    }
                }
            }
            ' ' | '\t' | '\n' => words.extend(word.take()),
            '\\' => word.get_or_insert_with(String::new).push(chars.next()?),
            c => word.get_or_insert_with(String::new).push(c),
        }
    }
    words.extend(word);
    Some(words)
}

/// The words to run: field codes replaced, `args` where the files go (at the end when nowhere).
pub(super) fn command(entry: &Entry, args: &[String]) -> Vec<String> {
    let mut out = Vec::new();
    let mut placed = false;
    for word in &entry.exec {
        match word.as_str() {
            "%f" | "%F" | "%u" | "%U" => {
                if !placed {
                    out.extend(args.iter().cloned());
                }
                placed = true;
            }
            "%i" | "%d" | "%D" | "%n" | "%N" | "%v" | "%m" | "%k" => {}
            word => {
                let mut text = String::new();
                let mut chars = word.chars();
                while let Some(c) = chars.next() {
                    match (c, c == '%') {
                        (_, true) => match chars.next() {
                            Some('%') => text.push('%'),
                            Some('c') => text.push_str(&entry.name),
                            Some('f' | 'F' | 'u' | 'U') => {
                                text.push_str(&args.join(" "));
                                placed = true;
                            }
                            _ => {}
                        },
                        (c, false) => text.push(c),
                    }
                }
                out.push(text);
            }
        }
    }
    if !placed {
        out.extend(args.iter().cloned());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exec_lines_follow_the_specification() {
        let args = ["/tmp/a b".to_owned()];
        for (exec, want) in [
            ("mousepad %U", &["mousepad", "/tmp/a b"][..]),
            ("sh -c \"echo \\\"hi\\\" 100%%\"", &["sh", "-c", "echo \"hi\" 100%", "/tmp/a b"]),
            ("\"/opt/My App/run\" --name=%c %i -f %f", &["/opt/My App/run", "--name=App", "-f", "/tmp/a b"]),
            ("prog --file=%f", &["prog", "--file=/tmp/a b"]),
        ] {
            let entry = Entry { exec: split(exec).expect(exec), name: "App".into(), ..Entry::default() };
            assert_eq!(command(&entry, &args), want, "{exec}");
        }
        assert_eq!(split("bad \"quote"), None);
    }

    #[test]
    fn desktop_files_are_read() {
        let text = "[Desktop Entry]\nType=Application\nName=Text Editor\nName[zh_CN]=文本编辑器\n\
                    Exec=env A=1 /usr/bin/sh %F\nTerminal=false\n[Desktop Action new]\nName=Other\nExec=no";
        let entry = parse("edit", text).expect("an entry");
        assert_eq!((entry.name.as_str(), entry.program().as_str()), ("Text Editor", "sh"));
        assert_eq!(entry.other_names, ["文本编辑器"]);
        for bad in [
            "",
            "[Desktop Entry]\nType=Link\nName=x\nExec=y",
            "[Desktop Entry]\nName=x\nExec=y\nHidden=true",
            "[Desktop Entry]\nName=x\nExec=y\nTryExec=/no/such/file",
            "[Desktop Entry]\nName=x\nExec=\"y",
        ] {
            assert_eq!(parse("x", bad), None, "{bad}");
        }
    }
}
