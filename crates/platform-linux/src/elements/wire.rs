//! D-Bus messages as bytes: only the types AT-SPI uses.
//!
//! A dump asks one small question per element, some thousands at once. Marshalling them by hand into
//! one buffer and reading the answers in place keeps our side of that far below the application's.

/// Message types.
pub(super) const CALL: u8 = 1;
pub(super) const RETURN: u8 = 2;
pub(super) const ERROR: u8 = 3;
pub(super) const SIGNAL: u8 = 4;

/// The largest message D-Bus allows.
pub(super) const MAX_MESSAGE: usize = 128 * 1024 * 1024;

/// A call to be sent.
#[derive(Clone, Debug)]
pub(super) struct Call<'a> {
    /// Bus name; `None` on a peer-to-peer connection.
    pub(super) dest: Option<&'a str>,
    pub(super) path: &'a str,
    pub(super) iface: &'a str,
    pub(super) member: &'a str,
    pub(super) args: Args,
}

/// Arguments: a signature and their bytes.
#[derive(Clone, Debug, Default)]
pub(super) struct Args {
    sig: String,
    bytes: Vec<u8>,
}

impl Args {
    fn pad(&mut self, to: usize) {
        self.bytes.resize(self.bytes.len().next_multiple_of(to), 0);
    }

    fn raw_str(&mut self, v: &str) {
        self.pad(4);
        // D-Bus strings cannot carry NUL; what comes after one is cut rather than corrupting the stream.
        let v = v.split('\0').next().unwrap_or_default();
        self.bytes.extend_from_slice(&(v.len() as u32).to_le_bytes());
        self.bytes.extend_from_slice(v.as_bytes());
        self.bytes.push(0);
    }

    pub(super) fn str(mut self, v: &str) -> Self {
        self.raw_str(v);
        self.sig.push('s');
        self
    }

    pub(super) fn strs(mut self, v: &[&str]) -> Self {
        self.pad(4);
        let at = self.bytes.len();
        self.bytes.extend_from_slice(&[0; 4]);
        for s in v {
            self.raw_str(s);
        }
        let len = (self.bytes.len() - at - 4) as u32;
        self.bytes[at..at + 4].copy_from_slice(&len.to_le_bytes());
        self.sig.push_str("as");
        self
    }

    pub(super) fn i32(mut self, v: i32) -> Self {
        self.pad(4);
        self.bytes.extend_from_slice(&v.to_le_bytes());
        self.sig.push('i');
        self
    }

    pub(super) fn u32(mut self, v: u32) -> Self {
        self.pad(4);
        self.bytes.extend_from_slice(&v.to_le_bytes());
        self.sig.push('u');
        self
    }

    /// A double inside a variant (`Properties.Set`).
    pub(super) fn variant_f64(mut self, v: f64) -> Self {
        self.bytes.extend_from_slice(&[1, b'd', 0]);
        self.pad(8);
        self.bytes.extend_from_slice(&v.to_le_bytes());
        self.sig.push('v');
        self
    }
}

fn field(out: &mut Vec<u8>, start: usize, code: u8, kind: u8, v: &str) {
    let pad = |out: &mut Vec<u8>, to: usize| out.resize(start + (out.len() - start).next_multiple_of(to), 0);
    pad(out, 8);
    out.extend_from_slice(&[code, 1, kind, 0]);
    if kind == b'g' {
        out.push(v.len() as u8);
    } else {
        out.extend_from_slice(&(v.len() as u32).to_le_bytes());
    }
    out.extend_from_slice(v.as_bytes());
    out.push(0);
}

/// Appends the bytes of a call.
pub(super) fn encode(out: &mut Vec<u8>, call: &Call<'_>, serial: u32) {
    let start = out.len();
    // No flags: a service that is not running may be started (only `org.a11y.Bus` is).
    out.extend_from_slice(&[b'l', CALL, 0, 1]);
    out.extend_from_slice(&(call.args.bytes.len() as u32).to_le_bytes());
    out.extend_from_slice(&serial.to_le_bytes());
    out.extend_from_slice(&[0; 4]);
    field(out, start, 1, b'o', call.path);
    field(out, start, 2, b's', call.iface);
    field(out, start, 3, b's', call.member);
    if let Some(dest) = call.dest {
        field(out, start, 6, b's', dest);
    }
    if !call.args.sig.is_empty() {
        field(out, start, 8, b'g', &call.args.sig);
    }
    let len = (out.len() - start - 16) as u32;
    out[start + 12..start + 16].copy_from_slice(&len.to_le_bytes());
    out.resize(start + (out.len() - start).next_multiple_of(8), 0);
    out.extend_from_slice(&call.args.bytes);
}

/// A message that came in; borrows the receive buffer.
#[derive(Debug, Default)]
pub(super) struct Incoming<'a> {
    pub(super) kind: u8,
    pub(super) reply_to: u32,
    pub(super) path: &'a str,
    pub(super) iface: &'a str,
    pub(super) member: &'a str,
    pub(super) error: &'a str,
    pub(super) sender: &'a str,
    pub(super) sig: &'a str,
    pub(super) big: bool,
    pub(super) body: &'a [u8],
}

/// The length of the message that starts `buf`; `None` while too little is there to tell, an error
/// when it is no D-Bus message.
pub(super) fn message_len(buf: &[u8]) -> Result<Option<usize>, &'static str> {
    if buf.len() < 16 {
        return Ok(None);
    }
    let big = match buf[0] {
        b'l' => false,
        b'B' => true,
        _ => return Err("a message with an unknown byte order"),
    };
    let mut r = Reader::new(&buf[4..16], big);
    let (body, _, fields) = (r.u32() as usize, r.u32(), r.u32() as usize);
    let len = body.saturating_add((16usize.saturating_add(fields)).next_multiple_of(8));
    if len > MAX_MESSAGE { Err("a message over the size limit") } else { Ok(Some(len)) }
}

/// Reads a whole message.
pub(super) fn decode(buf: &[u8]) -> Incoming<'_> {
    let big = buf[0] == b'B';
    let mut r = Reader::new(buf, big);
    r.pos = 12;
    let fields = r.u32() as usize;
    let end = (16 + fields).min(buf.len());
    let mut m = Incoming { kind: buf[1], big, ..Incoming::default() };
    while r.pos < end && !r.bad {
        r.align(8);
        let code = r.u8();
        match r.sig() {
            "u" => {
                let v = r.u32();
                if code == 5 {
                    m.reply_to = v;
                }
            }
            "g" => {
                let v = r.sig();
                if code == 8 {
                    m.sig = v;
                }
            }
            "s" | "o" => {
                let v = r.str();
                match code {
                    1 => m.path = v,
                    2 => m.iface = v,
                    3 => m.member = v,
                    4 => m.error = v,
                    7 => m.sender = v,
                    _ => {}
                }
            }
            _ => break,
        }
    }
    m.body = buf.get(end.next_multiple_of(8)..).unwrap_or_default();
    m
}

/// Reads values in place. Past the end, or where bytes make no sense, it gives zeros and sets `bad`.
#[derive(Clone, Debug)]
pub(super) struct Reader<'a> {
    buf: &'a [u8],
    pub(super) pos: usize,
    big: bool,
    pub(super) bad: bool,
}

impl<'a> Reader<'a> {
    pub(super) fn new(buf: &'a [u8], big: bool) -> Self {
        Self { buf, pos: 0, big, bad: false }
    }

    pub(super) fn align(&mut self, to: usize) {
        self.pos = self.pos.next_multiple_of(to);
    }

    fn take<const N: usize>(&mut self) -> [u8; N] {
        if let Some(v) = self.buf.get(self.pos..self.pos.saturating_add(N)).and_then(|s| s.try_into().ok()) {
            self.pos += N;
            return v;
        }
        self.bad = true;
        [0; N]
    }

    fn slice(&mut self, len: usize) -> &'a [u8] {
        if let Some(v) = self.buf.get(self.pos..self.pos.saturating_add(len)) {
            self.pos += len;
            return v;
        }
        self.bad = true;
        &[]
    }

    pub(super) fn u8(&mut self) -> u8 {
        self.take::<1>()[0]
    }

    pub(super) fn u32(&mut self) -> u32 {
        self.align(4);
        let v = self.take();
        if self.big { u32::from_be_bytes(v) } else { u32::from_le_bytes(v) }
    }

    pub(super) fn i32(&mut self) -> i32 {
        self.u32().cast_signed()
    }

    pub(super) fn f64(&mut self) -> f64 {
        self.align(8);
        let v = self.take();
        if self.big { f64::from_be_bytes(v) } else { f64::from_le_bytes(v) }
    }

    /// A string or object path. Text that is not UTF-8 (which D-Bus forbids) is cut where it goes wrong.
    pub(super) fn str(&mut self) -> &'a str {
        let len = self.u32() as usize;
        let bytes = self.slice(len);
        self.take::<1>();
        match std::str::from_utf8(bytes) {
            Ok(s) => s,
            Err(e) => std::str::from_utf8(&bytes[..e.valid_up_to()]).unwrap_or_default(),
        }
    }

    pub(super) fn sig(&mut self) -> &'a str {
        let len = self.u8() as usize;
        let bytes = self.slice(len);
        self.take::<1>();
        std::str::from_utf8(bytes).unwrap_or_default()
    }

    /// `(so)`.
    pub(super) fn reference(&mut self) -> (&'a str, &'a str) {
        self.align(8);
        (self.str(), self.str())
    }

    /// Calls `each` for every item of an array whose items are aligned to `align`.
    pub(super) fn array(&mut self, align: usize, mut each: impl FnMut(&mut Self)) {
        let len = self.u32() as usize;
        self.align(align);
        let end = self.pos.saturating_add(len);
        while self.pos < end && !self.bad {
            let before = self.pos;
            each(self);
            if self.pos == before {
                self.bad = true;
            }
        }
    }

    /// A variant holding a string, a number or a bool as text; empty for anything else.
    pub(super) fn variant(&mut self) -> Variant<'a> {
        match self.sig() {
            "s" | "o" => Variant::Str(self.str()),
            "i" => Variant::Int(i64::from(self.i32())),
            "u" | "b" => Variant::Int(i64::from(self.u32())),
            "d" => Variant::Double(self.f64()),
            "(so)" => {
                let (name, path) = self.reference();
                Variant::Reference(name, path)
            }
            _ => Variant::Other,
        }
    }
}

/// What a variant held.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Variant<'a> {
    Str(&'a str),
    Int(i64),
    Double(f64),
    Reference(&'a str, &'a str),
    Other,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_reads_back() {
        let mut out = vec![9; 8]; // not at the start of the buffer: padding is relative to the message
        let call = Call {
            dest: Some(":1.5"),
            path: "/org/a11y/x",
            iface: "a.b",
            member: "Do",
            args: Args::default().i32(-3).str("héllo").strs(&["a", "bc"]).u32(7).variant_f64(1.5),
        };
        encode(&mut out, &call, 77);
        let bytes = &out[8..];
        assert_eq!(message_len(bytes), Ok(Some(bytes.len())));
        let m = decode(bytes);
        assert_eq!((m.kind, m.path, m.iface, m.member, m.sig), (CALL, "/org/a11y/x", "a.b", "Do", "isasuv"));
        let mut r = Reader::new(m.body, m.big);
        assert_eq!((r.i32(), r.str()), (-3, "héllo"));
        let mut list = vec![];
        r.array(4, |r| list.push(r.str()));
        assert_eq!(list, ["a", "bc"]);
        assert_eq!((r.u32(), r.variant(), r.bad), (7, Variant::Double(1.5), false));
    }

    #[test]
    fn cut_and_wrong_bytes_never_panic() {
        let mut out = vec![];
        let call =
            Call { dest: None, path: "/p", iface: "i.i", member: "M", args: Args::default().str("text") };
        encode(&mut out, &call, 1);
        for cut in 16..out.len() {
            let m = decode(&out[..cut]);
            let mut r = Reader::new(m.body, m.big);
            r.str();
        }
        for at in 0..out.len() {
            for v in [0, 1, 0x7f, 0xff] {
                let mut bytes = out.clone();
                bytes[at] = v;
                let _ = message_len(&bytes);
                let m = decode(&bytes);
                let mut r = Reader::new(m.body, m.big);
                r.array(8, |r| {
                    r.variant();
                });
            }
        }
        assert!(message_len(b"x...............").is_err());
        assert_eq!(message_len(b"l"), Ok(None));
    }
}
