//! Colour, where somebody can see it.

use std::borrow::Cow;
use std::io::IsTerminal;

use crate::visible;

/// Everything [`Paint`] may add to a text.
pub(crate) const COLOURS: [&str; 6] = ["\x1b[0m", "\x1b[1m", "\x1b[2m", "\x1b[31m", "\x1b[32m", "\x1b[33m"];

/// Paints text, or leaves it alone.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Paint {
    colour: bool,
    terminal: bool,
}

impl Paint {
    /// For a stream: colour on a terminal, unless `NO_COLOR` is set or the terminal is dumb.
    pub(crate) fn for_stream(stream: &impl IsTerminal) -> Self {
        let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let terminal = stream.is_terminal();
        Self { colour: terminal && !set("NO_COLOR") && !dumb, terminal }
    }

    /// Words that came from elsewhere: on a terminal nothing in them acts, not even a colour.
    pub(crate) fn foreign(self, text: &str) -> Cow<'_, str> {
        if self.terminal { visible::clean(text) } else { Cow::Borrowed(text) }
    }

    fn wrap(self, code: &str, text: &str) -> String {
        let text = self.foreign(text);
        if self.colour { format!("\x1b[{code}m{text}\x1b[0m") } else { text.into_owned() }
    }

    pub(crate) fn red(self, text: &str) -> String {
        self.wrap("31", text)
    }

    pub(crate) fn green(self, text: &str) -> String {
        self.wrap("32", text)
    }

    pub(crate) fn yellow(self, text: &str) -> String {
        self.wrap("33", text)
    }

    pub(crate) fn bold(self, text: &str) -> String {
        self.wrap("1", text)
    }

    pub(crate) fn dim(self, text: &str) -> String {
        self.wrap("2", text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_colour_is_on_the_list() {
        let paint = Paint { colour: true, terminal: true };
        for painted in [paint.red("x"), paint.green("x"), paint.yellow("x"), paint.bold("x"), paint.dim("x")]
        {
            let (start, end) = painted.split_once('x').unwrap();
            assert!(COLOURS.contains(&start) && COLOURS.contains(&end), "{painted:?}");
        }
        assert_eq!(paint.red("\x1b[32mx"), "\x1b[31m\\u001b[32mx\x1b[0m");
        assert_eq!(Paint::default().red("\x1b[32mx"), "\x1b[32mx", "exact in a pipe");
    }
}
