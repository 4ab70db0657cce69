//! Columns for people.

/// Lines up rows; the last column is as wide as it likes. Wide (CJK) characters take two cells.
pub(crate) fn table(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns)
        .map(|i| rows.iter().filter_map(|row| row.get(i)).map(|cell| width(cell)).max().unwrap_or(0))
        .collect();
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (i, cell) in row.iter().enumerate() {
            line.push_str(cell);
            if i + 1 < row.len() {
                line.push_str(&" ".repeat(widths[i] - width(cell) + 2));
            }
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// Cells a text takes on a terminal; colour takes none.
pub(crate) fn width(text: &str) -> usize {
    let mut cells = 0;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c == '\x1b' {
            chars.by_ref().find(|c| *c == 'm');
            continue;
        }
        cells += if is_wide(c) { 2 } else { 1 };
    }
    cells
}

fn is_wide(c: char) -> bool {
    matches!(u32::from(c), 0x1100..=0x115F | 0x2E80..=0xA4CF | 0xAC00..=0xD7A3 | 0xF900..=0xFAFF | 0xFE30..=0xFE6F | 0xFF00..=0xFF60 | 0xFFE0..=0xFFE6 | 0x1F300..=0x1FAFF | 0x20000..=0x3FFFD)
}

/// Milliseconds in two units people grasp.
pub(crate) fn duration(ms: u64) -> String {
    let s = ms / 1000;
    match s {
        0 => format!("{ms} ms"),
        1..60 => format!("{s} s"),
        60..3600 => format!("{} min {} s", s / 60, s % 60),
        3600..86_400 => format!("{} h {} min", s / 3600, s / 60 % 60),
        _ => format!("{} d {} h", s / 86_400, s / 3600 % 24),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up_whatever_is_in_them() {
        let rows =
            [["a", "屏幕", "x"], ["\x1b[31mlong\x1b[0m", "b", ""]].map(|row| row.map(str::to_owned).to_vec());
        assert_eq!(table(&rows), "a     屏幕  x\n\x1b[31mlong\x1b[0m  b\n");
    }

    #[test]
    fn durations() {
        for (ms, text) in [
            (5, "5 ms"),
            (59_999, "59 s"),
            (61_000, "1 min 1 s"),
            (3_720_000, "1 h 2 min"),
            (90_000_000, "1 d 1 h"),
        ] {
            assert_eq!(duration(ms), text);
        }
    }
}
