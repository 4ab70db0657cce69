//! Lines out of a byte stream, with a bound.
//!
//! Pure: no socket, no clock. The fuzzer in `tests/fuzz.rs` feeds it a million inputs.

/// What [`Decoder::next_frame`] found.
#[derive(Debug, PartialEq, Eq)]
pub enum Frame<'a> {
    /// A whole line, without its newline.
    Line(&'a [u8]),
    /// A line longer than the limit. The decoder is finished: what follows cannot be told apart.
    TooLarge,
}

/// Cuts a stream into lines and never holds more than its limit plus what was pushed last,
/// provided that it is emptied with [`Decoder::next_frame`] after each push.
#[derive(Debug)]
pub struct Decoder {
    limit: usize,
    buffer: Vec<u8>,
    /// Where the first line not yet handed out begins.
    start: usize,
    /// Everything before this holds no newline that was not handed out.
    scanned: usize,
    finished: bool,
}

/// A buffer larger than this is given back once it is empty.
const KEEP_CAPACITY: usize = 256 * 1024;

impl Decoder {
    /// A decoder for lines of at most `limit` bytes.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        Self { limit, buffer: Vec::new(), start: 0, scanned: 0, finished: false }
    }

    /// Adds what was read. Ignored once a line was too large.
    pub fn push(&mut self, bytes: &[u8]) {
        if self.finished {
            return;
        }
        let needed = self.buffer.len() + bytes.len();
        if needed > self.buffer.capacity() {
            // Doubling, but not past what a line may take: a Vec left to itself would hold twice the limit.
            let wanted = (self.buffer.capacity() * 2).min(self.limit + bytes.len()).max(needed);
            self.buffer.reserve_exact(wanted - self.buffer.len());
        }
        self.buffer.extend_from_slice(bytes);
    }

    /// The next whole line, or `None` when more must be read first.
    pub fn next_frame(&mut self) -> Option<Frame<'_>> {
        if self.finished {
            return None;
        }
        let newline = memchr::memchr(b'\n', &self.buffer[self.scanned..]).map(|at| self.scanned + at);
        let end = newline.unwrap_or(self.buffer.len());
        if end - self.start > self.limit {
            self.finished = true;
            self.buffer = Vec::new();
            (self.start, self.scanned) = (0, 0);
            return Some(Frame::TooLarge);
        }
        if newline.is_some() {
            let begin = self.start;
            self.start = end + 1;
            self.scanned = end + 1;
            return Some(Frame::Line(&self.buffer[begin..end]));
        }
        self.compact();
        None
    }

    /// Bytes held that are not yet part of a line handed out.
    #[must_use]
    pub fn buffered(&self) -> usize {
        self.buffer.len() - self.start
    }

    /// Memory held.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.buffer.capacity()
    }

    fn compact(&mut self) {
        if self.start == self.buffer.len() && self.buffer.capacity() > KEEP_CAPACITY {
            self.buffer = Vec::new();
        } else if self.start > 0 {
            self.buffer.drain(..self.start);
        }
        self.start = 0;
        self.scanned = self.buffer.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Feeds `input` in pieces of `step` bytes; "!" stands for a line that was too large.
    fn lines(limit: usize, input: &str, step: usize) -> Vec<String> {
        let mut decoder = Decoder::new(limit);
        let mut out = Vec::new();
        for piece in input.as_bytes().chunks(step) {
            decoder.push(piece);
            while let Some(frame) = decoder.next_frame() {
                out.push(match frame {
                    Frame::Line(line) => String::from_utf8(line.to_vec()).unwrap(),
                    Frame::TooLarge => "!".to_owned(),
                });
            }
            assert!(decoder.buffered() <= limit);
        }
        out
    }

    #[test]
    fn lines_do_not_depend_on_where_the_stream_was_cut() {
        let cases: &[(usize, &str, &[&str])] = &[
            (4, "", &[]),
            (4, "ab", &[]),
            (4, "ab\n", &["ab"]),
            (4, "\n\n", &["", ""]),
            (4, "abcd\n", &["abcd"]),
            (4, "abcde\n", &["!"]),
            (4, "abcde", &["!"]),
            (4, "a\nabcde\nb\n", &["a", "!"]),
            (4, "a\nbc\nhalf", &["a", "bc"]),
            (0, "\na\n", &["", "!"]),
        ];
        for (limit, input, want) in cases {
            for step in 1..=input.len().max(1) {
                assert_eq!(&lines(*limit, input, step), want, "limit {limit} input {input:?} step {step}");
            }
        }
    }

    #[test]
    fn memory_stays_under_limit_plus_chunk() {
        let (limit, chunk) = (100_000, 4096);
        let mut decoder = Decoder::new(limit);
        let mut most = 0;
        let mut cut = false;
        for _ in 0..1000 {
            decoder.push(&vec![b'x'; chunk]);
            most = most.max(decoder.capacity());
            cut |= decoder.next_frame() == Some(Frame::TooLarge);
        }
        assert!(cut);
        assert!(most <= limit + chunk, "{most}");
        assert_eq!(decoder.capacity(), 0);
    }
}
