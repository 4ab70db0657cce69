//! Just enough of Rust's grammar to tell code from comments, strings and tests.

/// A Rust file with everything but code blanked out, line for line.
pub(crate) struct Code {
    text: String,
    tests: Vec<bool>,
}

impl Code {
    /// Reads a file.
    pub(crate) fn read(text: &str) -> Self {
        let text = blank(text);
        let tests = test_lines(&text);
        Self { text, tests }
    }

    /// The code, with comments and strings as spaces.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Lines of code with their number and whether they are inside `#[cfg(test)]`.
    pub(crate) fn lines(&self) -> impl Iterator<Item = (usize, &str, bool)> {
        self.text.lines().enumerate().map(|(i, line)| (i + 1, line, self.tests.get(i) == Some(&true)))
    }
}

/// Replaces comments and the insides of strings and characters by spaces.
fn blank(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    let hide = |out: &mut String, from: usize, to: usize| {
        out.extend(chars[from..to].iter().map(|c| if *c == '\n' { '\n' } else { ' ' }));
    };
    while at < chars.len() {
        let end = match (chars[at], chars.get(at + 1)) {
            ('/', Some('/')) => line_end(&chars, at),
            ('/', Some('*')) => comment_end(&chars, at),
            ('"', _) => string_end(&chars, at),
            ('r', Some('"' | '#')) if starts_literal(&chars, at) => raw_end(&chars, at),
            ('\'', _) => char_end(&chars, at),
            _ => at,
        };
        if end == at {
            out.push(chars[at]);
            at += 1;
        } else {
            hide(&mut out, at, end);
            at = end;
        }
    }
    out
}

fn word_before(chars: &[char], at: usize) -> bool {
    at > 0 && (chars[at - 1].is_alphanumeric() || chars[at - 1] == '_')
}

/// Whether the `r` here begins a literal (`r"`, `br"`, `cr"`) and is not the end of a name.
fn starts_literal(chars: &[char], at: usize) -> bool {
    let prefix = at > 0 && matches!(chars[at - 1], 'b' | 'c');
    !word_before(chars, if prefix { at - 1 } else { at })
}

fn line_end(chars: &[char], at: usize) -> usize {
    chars[at..].iter().position(|c| *c == '\n').map_or(chars.len(), |n| at + n)
}

fn comment_end(chars: &[char], at: usize) -> usize {
    let (mut depth, mut i) = (0, at);
    while i < chars.len() {
        match (chars[i], chars.get(i + 1)) {
            ('/', Some('*')) => (depth, i) = (depth + 1, i + 2),
            ('*', Some('/')) => (depth, i) = (depth - 1, i + 2),
            _ => i += 1,
        }
        if depth == 0 {
            return i;
        }
    }
    chars.len()
}

fn string_end(chars: &[char], at: usize) -> usize {
    let mut i = at + 1;
    while i < chars.len() && chars[i] != '"' {
        i += if chars[i] == '\\' { 2 } else { 1 };
    }
    (i + 1).min(chars.len())
}

/// The end of `r"…"` or `r#"…"#`; `at` itself when it is only a name such as `r#type`.
fn raw_end(chars: &[char], at: usize) -> usize {
    let hashes = chars[at + 1..].iter().take_while(|c| **c == '#').count();
    if chars.get(at + 1 + hashes) != Some(&'"') {
        return at;
    }
    let mut i = at + 2 + hashes;
    while i < chars.len() {
        if chars[i] == '"' && chars[i + 1..].iter().take(hashes).filter(|c| **c == '#').count() == hashes {
            return (i + 1 + hashes).min(chars.len());
        }
        i += 1;
    }
    chars.len()
}

/// The end of a character; `at` itself when it is a lifetime.
fn char_end(chars: &[char], at: usize) -> usize {
    match (chars.get(at + 1), chars.get(at + 2)) {
        (Some('\\'), _) => {
            let from = at + 3;
            chars.get(from..).and_then(|c| c.iter().position(|c| *c == '\'')).map_or(at, |n| from + n + 1)
        }
        (Some(_), Some('\'')) => at + 3,
        _ => at,
    }
}

/// Which lines lie in an item marked `#[cfg(test)]` (or `#[cfg(all(test, …))]`).
fn test_lines(code: &str) -> Vec<bool> {
    let mut lines = vec![false; code.lines().count()];
    for (start, _) in code.match_indices("#[cfg(") {
        let attribute = &code[start..code[start..].find(']').map_or(code.len(), |n| start + n)];
        let inside = attribute.trim_start_matches("#[cfg(");
        if !inside.starts_with("test") && !inside.starts_with("all(test") {
            continue;
        }
        let after = start + attribute.len();
        let end = item_end(&code[after..]).map_or(code.len(), |n| after + n);
        let number = |at: usize| code[..at].matches('\n').count();
        for line in &mut lines[number(start)..=number(end.saturating_sub(1))] {
            *line = true;
        }
    }
    lines
}

/// The end of the item that starts here: its `;`, or the brace that closes its body.
fn item_end(code: &str) -> Option<usize> {
    let mut depth = 0usize;
    for (at, c) in code.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth <= 1 => return Some(at + 1),
            '}' => depth -= 1,
            ';' if depth == 0 => return Some(at + 1),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_code_remains() {
        for (text, code) in [
            ("a // unsafe\nb", "a          \nb"),
            ("a /* x /* y */ z */ b", "a                   b"),
            ("let s = \"un\\\"safe\";", "let s =           ;"),
            ("let s = r#\"a\"b\"#;", "let s =         ;"),
            ("r#type = 'x';", "r#type =    ;"),
            ("fn f<'a>(x: &'a str) { '\\n' }", "fn f<'a>(x: &'a str) {      }"),
            ("'\\u{1f600}' '\"' x", "                x"),
            ("br\"x\" bar\"y\"", "b     bar   "),
        ] {
            assert_eq!(blank(text), code, "{text:?}");
        }
    }

    #[test]
    fn test_modules_are_known() {
        let code = Code::read("fn a() {}\n#[cfg(test)]\nmod tests {\n  fn b() { {} }\n}\nfn c() {}\n");
        let inside: Vec<bool> = code.lines().map(|(_, _, test)| test).collect();
        assert_eq!(inside, [false, true, true, true, true, false]);
        let code = Code::read("#[cfg(all(test, unix))]\nmod tests;\nfn c() {}\n#[cfg(unix)]\nmod unix;\n");
        let inside: Vec<bool> = code.lines().map(|(_, _, test)| test).collect();
        assert_eq!(inside, [true, true, false, false, false]);
    }
}
