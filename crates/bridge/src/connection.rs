//! One client: read lines, hand out work, notice when the client goes.

use std::collections::HashMap;
use std::io::IoSliceMut;
use std::mem::MaybeUninit;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use deskhand_protocol::{Error, ErrorCode, method};
use rustix::io::Errno;
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg};
use serde_json::Value;

use crate::allow::{Check, Refusal};
use crate::envelope;
use crate::frame::{Decoder, Frame};
use crate::gone::Gone;
use crate::handshake::{Challenge, NoHello};
use crate::lanes::{Lane, Lanes, Permit, is_for_reserve};
use crate::outgoing::{Outgoing, Slow};
use crate::peer::{Changed, Peer, PeerFacts};
use crate::processes::Process;
use crate::reply::{Reply, line};
use crate::request::{Request, parse};
use crate::server::Shared;
use crate::service::CallContext;

/// Bytes read at once.
const CHUNK: usize = 64 * 1024;

pub(crate) struct Connection {
    pub(crate) number: u64,
    socket: UnixStream,
    pub(crate) outgoing: Outgoing,
    pub(crate) lanes: Lanes,
    pub(crate) process: Arc<Process>,
    /// One of those kept for stopping things.
    reserved: bool,
    in_flight: Mutex<HashMap<u64, Arc<Gone>>>,
    next_call: AtomicU64,
}

/// How reading ended.
enum End {
    /// The client closed, or the connection broke.
    Gone,
    /// We close it, after what waits was written.
    Ours,
}

impl Connection {
    pub(crate) fn new(
        number: u64,
        socket: UnixStream,
        process: Arc<Process>,
        reserved: bool,
        shared: &Shared,
    ) -> std::io::Result<Self> {
        let outgoing = Outgoing::new(socket.try_clone()?, &shared.limits)?;
        Ok(Self {
            number,
            socket,
            outgoing,
            lanes: Lanes::new(shared.limits.calls_per_connection, shared.limits.others_per_connection),
            process,
            reserved,
            in_flight: Mutex::default(),
            next_call: AtomicU64::new(0),
        })
    }

    /// Answers a connection there is no room for.
    pub(crate) fn turn_away(socket: &UnixStream, error: Error) {
        let answer = line(&Value::Null, Err(error));
        // Not waited for: a new connection's buffer takes so little at once or never.
        let _ = rustix::net::send(
            socket,
            &answer,
            rustix::net::SendFlags::NOSIGNAL | rustix::net::SendFlags::DONTWAIT,
        );
    }

    /// Serves the client until it goes. Runs on the connection's own thread.
    pub(crate) fn serve(self: &Arc<Self>, facts: PeerFacts, shared: &Arc<Shared>) {
        match shared.allowlist.examine(facts, &|text| shared.service.notice(text)) {
            Ok(peer) => match self.read(shared, &Arc::new(peer)) {
                // Calls learn that nobody waits; who only closed its writing end still gets answers.
                End::Gone => self.fire_gone(),
                End::Ours => {
                    self.outgoing.finish();
                    self.fire_gone();
                }
            },
            Err(refusal) => {
                self.refuse(shared, &refusal);
                self.outgoing.finish();
            }
        }
    }

    fn refuse(&self, shared: &Shared, refusal: &Refusal) -> End {
        shared.refused(refusal);
        self.answer(shared, &Value::Null, Err(refusal.to_error()));
        End::Ours
    }

    fn read(self: &Arc<Self>, shared: &Arc<Shared>, peer: &Arc<Peer>) -> End {
        // Only now, when the process was examined: whatever it wrote before cannot repeat this.
        let challenge = match Challenge::new() {
            Ok(challenge) => challenge,
            Err(error) => return self.cut(shared, error),
        };
        self.send(shared, challenge.line());
        let mut decoder = Decoder::new(shared.limits.request_bytes);
        let mut chunk = vec![0; CHUNK];
        let mut greeted = false;
        let mut quiet_since = Instant::now();
        let mut timeout = None;
        loop {
            // Half a request may not be left lying forever, and neither may a silent connection.
            let wanted = if !greeted || self.reserved {
                let left = shared.limits.hello.saturating_sub(quiet_since.elapsed());
                if !left.is_zero() {
                    Some(left)
                } else if greeted && self.running() > 0 {
                    Some(shared.limits.hello)
                } else {
                    return self.too_quiet(shared, greeted);
                }
            } else if decoder.buffered() > 0 {
                Some(shared.limits.stall)
            } else {
                None
            };
            if wanted != timeout {
                // Zero means "no limit" to the kernel.
                let set = wanted.map(|time| time.max(Duration::from_millis(1)));
                if self.socket.set_read_timeout(set).is_err() {
                    return End::Gone;
                }
                timeout = wanted;
            }
            let count = match self.receive(&mut chunk, peer.pid) {
                Ok((0, _)) => return End::Gone,
                Ok((count, true)) => count,
                Ok((_, false)) => return self.stranger(shared, peer),
                Err(Errno::INTR) => continue,
                // How long that may go on is looked at above.
                Err(Errno::AGAIN) if !greeted || self.reserved => continue,
                Err(Errno::AGAIN) => {
                    let held = decoder.buffered();
                    return self.cut(
                        shared,
                        Error::new(
                            ErrorCode::BadRequest,
                            format!("half a request of {held} bytes was left lying"),
                        )
                        .hint("end each request with a newline"),
                    );
                }
                Err(_) => return End::Gone,
            };
            decoder.push(&chunk[..count]);
            while let Some(frame) = decoder.next_frame() {
                match frame {
                    Frame::Line(bytes) => {
                        let request = match parse(bytes) {
                            Ok(request) => request,
                            Err(malformed) => {
                                self.answer(shared, &malformed.id, Err(malformed.error));
                                continue;
                            }
                        };
                        if let Err(changed) = peer.check() {
                            return self.changed(shared, peer, &changed);
                        }
                        if request.method != method::HELLO && greeted {
                            quiet_since = Instant::now();
                            self.dispatch(shared, peer, request);
                            continue;
                        }
                        match first(&request, greeted, &challenge, shared.limits.request_bytes) {
                            Ok(reply) => {
                                greeted = true;
                                quiet_since = Instant::now();
                                self.answer(shared, &request.id, Ok(reply));
                            }
                            Err(NoHello::Bad(error)) => self.answer(shared, &request.id, Err(error)),
                            Err(NoHello::Challenge) => return self.too_early(shared, peer),
                        }
                    }
                    Frame::TooLarge => {
                        let limit = shared.limits.request_bytes;
                        return self.cut(
                            shared,
                            Error::new(
                                ErrorCode::FrameTooLarge,
                                format!("the line is longer than {limit} bytes"),
                            )
                            .detail("limitBytes", limit),
                        );
                    }
                }
            }
        }
    }

    /// Reads once. The flag says whether the process that connected wrote it.
    fn receive(&self, chunk: &mut [u8], pid: u32) -> Result<(usize, bool), Errno> {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmCredentials(1))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let mut parts = [IoSliceMut::new(chunk)];
        let message = recvmsg(&self.socket, &mut parts, &mut control, RecvFlags::CMSG_CLOEXEC)?;
        // The kernel does not join the bytes of two writers into one read.
        let same = control.drain().any(|message| match message {
            RecvAncillaryMessage::ScmCredentials(cred) => {
                u32::try_from(cred.pid.as_raw_nonzero().get()).is_ok_and(|writer| writer == pid)
            }
            _ => false,
        });
        Ok((message.bytes, same))
    }

    fn stranger(&self, shared: &Shared, peer: &Peer) -> End {
        let why = format!("another process than pid {}, which connected, wrote on this connection", peer.pid);
        self.refuse(shared, &Refusal { peer: peer.facts(), check: Check::Sender, why })
    }

    fn too_early(&self, shared: &Shared, peer: &Peer) -> End {
        let why = format!("hello does not repeat the challenge that was sent to pid {}", peer.pid);
        self.refuse(shared, &Refusal { peer: peer.facts(), check: Check::Challenge, why })
    }

    /// The process is not what was examined.
    fn changed(&self, shared: &Shared, peer: &Peer, changed: &Changed) -> End {
        let (check, what) = match changed {
            // Nobody did wrong, and nobody waits.
            Changed::Unknown(_) if !peer.is_alive() => return End::Gone,
            Changed::Unknown(error) => (Check::Process, format!("cannot be examined any more: {error}")),
            Changed::Exec => (Check::Process, "started a program anew after it was examined".to_owned()),
            Changed::File => (Check::Path, format!("no longer runs {}", peer.exe.display())),
        };
        let why = format!("pid {} {what}", peer.pid);
        self.refuse(shared, &Refusal { peer: peer.facts(), check, why })
    }

    fn too_quiet(&self, shared: &Shared, greeted: bool) -> End {
        let limit = shared.limits.hello.as_millis();
        self.cut(
            shared,
            if greeted {
                let reserved = shared.limits.reserved;
                Error::new(
                    ErrorCode::Busy,
                    format!("one of the last {reserved} connections may be idle for {limit} ms only"),
                )
                .detail("limit", reserved)
            } else {
                Error::new(ErrorCode::BadRequest, format!("no hello within {limit} ms"))
            },
        )
    }

    fn cut(&self, shared: &Shared, error: Error) -> End {
        shared.service.notice(&format!("connection {} closed: {}", self.number, error.message));
        self.answer(shared, &Value::Null, Err(error));
        End::Ours
    }

    fn dispatch(self: &Arc<Self>, shared: &Arc<Shared>, peer: &Arc<Peer>, request: Request) {
        let id = request.id.clone();
        let lane = Lane::of(&request.method);
        if shared.is_closing() && lane != Lane::Urgent {
            let ending =
                Error::new(ErrorCode::HostNotRunning, "the host is ending and takes no more requests");
            return self.answer(shared, &id, Err(ending));
        }
        if self.reserved && !is_for_reserve(&request.method) {
            let (most, reserved) = (shared.limits.connections, shared.limits.reserved);
            let busy = Error::new(
                ErrorCode::Busy,
                format!("this is one of the last {reserved} of {most} connections, kept for stopping things"),
            )
            .hint("it takes abort, stop, resume, status and shutdown; for others connect again later")
            .detail("limit", reserved);
            return self.answer(shared, &id, Err(busy));
        }
        let permit = match Permit::take(lane, shared, self) {
            Ok(permit) => permit,
            Err(error) => return self.answer(shared, &id, Err(error)),
        };
        // Registered by the reader, which alone says that the client is gone: no gap between.
        let call = self.next_call.fetch_add(1, Ordering::Relaxed);
        let gone = Arc::new(Gone::default());
        self.lock().insert(call, Arc::clone(&gone));
        let context = CallContext { peer: Arc::clone(peer), connection: self.number, gone };
        let (me, host) = (Arc::clone(self), Arc::clone(shared));
        let job = Box::new(move || {
            let id = request.id.clone();
            let answer =
                std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| run(&host, request, &context)))
                    .unwrap_or_else(|_| {
                        Err(Error::new(ErrorCode::Internal, "the host failed while it ran this request"))
                    });
            context.gone.disarm();
            // Given back before sending: a client that reads slowly does not use up the lanes.
            drop(permit);
            me.answer(&host, &id, answer);
            // Only now: a shutdown waits for requests that are not answered yet.
            me.lock().remove(&call);
        });
        if shared.pool.run(job).is_err() {
            if let Some(gone) = self.lock().remove(&call) {
                gone.disarm();
            }
            self.answer(shared, &id, Err(Error::new(ErrorCode::Busy, "no thread is free for this request")));
        }
    }

    /// Sends an answer; says so when that closed a slow client.
    fn answer(&self, shared: &Shared, id: &Value, answer: Result<Reply, Error>) {
        self.send(shared, line(id, answer));
    }

    fn send(&self, shared: &Shared, line: Vec<u8>) {
        if let Err(slow) = self.outgoing.send(line) {
            let why = match slow {
                Slow::Full { bytes, messages } => format!("{messages} answers, {bytes} bytes wait"),
                Slow::Stalled { bytes } => format!("it read nothing for too long, {bytes} bytes wait"),
            };
            shared
                .service
                .notice(&format!("connection {} closed, the client is too slow: {why}", self.number));
        }
    }

    fn fire_gone(&self) {
        let waiting: Vec<_> = self.lock().drain().map(|(_, gone)| gone).collect();
        for gone in waiting {
            gone.fire();
        }
    }

    /// Requests that run.
    pub(crate) fn running(&self) -> usize {
        self.lock().len()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<u64, Arc<Gone>>> {
        self.in_flight.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn run(shared: &Shared, request: Request, context: &CallContext) -> Result<Reply, Error> {
    if request.method == method::CALL {
        let params = envelope::open(&request.params, &shared.nonces).inspect_err(|error| {
            let check = match error.code {
                ErrorCode::NonceReplayed => Check::Nonce,
                ErrorCode::RequestExpired => Check::Expiry,
                _ => return,
            };
            let (peer, why) = (context.peer.facts(), error.message.clone());
            shared.refused(&Refusal { peer, check, why });
        })?;
        shared.service.call(params, context)
    } else {
        shared.service.handle(&request.method, request.params, context)
    }
}

/// What comes before a connection is greeted, and `hello` at any time.
fn first(
    request: &Request,
    greeted: bool,
    challenge: &Challenge,
    max_request_bytes: usize,
) -> Result<Reply, NoHello> {
    if request.method != method::HELLO {
        let name = crate::request::clip(&request.method);
        let error = Error::new(ErrorCode::BadRequest, format!("{name:?} came before hello"))
            .hint("send hello first; requests may follow right behind it");
        return Err(NoHello::Bad(error));
    }
    if greeted {
        return Err(NoHello::Bad(Error::new(ErrorCode::BadRequest, "hello was said before")));
    }
    challenge.greet(request, max_request_bytes)
}
