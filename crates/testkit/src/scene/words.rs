//! A line of a scene cut into words.

use super::SceneError;

/// One word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Word {
    /// A bare word: `window`, `focused`.
    Bare(String),
    /// `"text"`.
    Text(String),
    /// `#id`, without the mark.
    Id(String),
    /// `key=value` or `key="value"`.
    Pair(String, String),
    /// `->`
    Arrow,
    /// `;`
    Semicolon,
}

impl std::fmt::Display for Word {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Word::Bare(w) => f.write_str(w),
            Word::Text(t) => write!(f, "{t:?}"),
            Word::Id(i) => write!(f, "#{i}"),
            Word::Pair(k, v) => write!(f, "{k}={v:?}"),
            Word::Arrow => f.write_str("->"),
            Word::Semicolon => f.write_str(";"),
        }
    }
}

/// Cuts a line; `//` outside a text starts a comment.
pub(crate) fn words(line: usize, text: &str) -> Result<Vec<Word>, SceneError> {
    let mut out = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() && !rest.starts_with("//") {
        if let Some(after) = rest.strip_prefix("->") {
            out.push(Word::Arrow);
            rest = after;
        } else if let Some(after) = rest.strip_prefix(';') {
            out.push(Word::Semicolon);
            rest = after;
        } else if rest.starts_with('"') {
            let (text, after) = quoted(line, rest)?;
            out.push(Word::Text(text));
            rest = after;
        } else {
            let end =
                rest.find(|c: char| c.is_whitespace() || matches!(c, '"' | ';' | '=')).unwrap_or(rest.len());
            let (word, after) = rest.split_at(end);
            if let Some(after) = after.strip_prefix('=') {
                let (value, after) = if after.starts_with('"') {
                    quoted(line, after)?
                } else {
                    let end = after.find(|c: char| c.is_whitespace() || c == ';').unwrap_or(after.len());
                    (after[..end].to_owned(), &after[end..])
                };
                out.push(Word::Pair(word.to_owned(), value));
                rest = after;
            } else if let Some(id) = word.strip_prefix('#') {
                out.push(Word::Id(id.to_owned()));
                rest = after;
            } else if word.is_empty() {
                return Err(SceneError::new(line, format!("cannot read {rest:?}")));
            } else {
                out.push(Word::Bare(word.to_owned()));
                rest = after;
            }
        }
        rest = rest.trim_start();
    }
    Ok(out)
}

/// A text in quotes at the start of `rest` and what follows it. `\n`, `\t`, `\"`, `\\` are known.
fn quoted(line: usize, rest: &str) -> Result<(String, &str), SceneError> {
    let mut text = String::new();
    let mut chars = rest.char_indices().skip(1);
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Ok((text, &rest[at + 1..])),
            '\\' => match chars.next().map(|(_, c)| c) {
                Some('n') => text.push('\n'),
                Some('t') => text.push('\t'),
                Some(c @ ('"' | '\\')) => text.push(c),
                other => {
                    return Err(SceneError::new(line, format!("unknown escape \\{}", other.unwrap_or(' '))));
                }
            },
            c => text.push(c),
        }
    }
    Err(SceneError::new(line, format!("the text {rest} has no closing quote")))
}
