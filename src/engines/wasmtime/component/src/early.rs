//! Bodies that a guest writes before anyone reads them: a response's before it is set, a request's before it is sent.
//! They are buffered, up to a limit. Past it the guest would wait for a reader that cannot come, so its run ends.

use http_body_util::{BodyExt, Empty};
use hyper::body::{Body as _, Frame};
use std::future::poll_fn;
use std::mem::take;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker, ready};
use wasmtime::{Result, format_err};
use wasmtime_wasi::async_trait;
use wasmtime_wasi::p2::{DynOutputStream, OutputStream, Pollable, StreamError};
use wasmtime_wasi::runtime::{AbortOnDropJoinHandle, spawn};
use wasmtime_wasi_http::Error;
use wasmtime_wasi_http::p2::body::HyperOutgoingBody;

/// The limits of one body, and of all bodies of a run.
const MOST_OF_BODY: usize = 128 << 10;
const MOST_OF_RUN: usize = 4 << 20;

type Read = Option<std::result::Result<Frame<bytes::Bytes>, Error>>;

/// The unread bytes of a run.
#[derive(Clone, Default)]
pub struct Unread(Arc<Run>);

#[derive(Default)]
struct Run {
    bytes: AtomicUsize,
    has_too_much: AtomicBool,
}

fn too_much() -> wasmtime::Error {
    format_err!(
        "the guest wrote more of a body than is kept ({} KiB, {} MiB of all) before it called response-outparam.set or \
         outgoing-handler.handle, without which nobody reads it",
        MOST_OF_BODY >> 10,
        MOST_OF_RUN >> 20
    )
}

impl Unread {
    /// Replaces `body`, which was just made. Called on the run's thread, within its runtime.
    pub fn keep(&self, body: HyperOutgoingBody) -> HyperOutgoingBody {
        let early = Early { body, bytes: Vec::new(), end: None, run: self.0.clone() };
        let early = Arc::new(Mutex::new(early));
        let kept = Arc::downgrade(&early); // a body that the guest drops is closed at once
        let keeper = spawn(poll_fn(move |context| match kept.upgrade() {
            Some(early) => early.lock().expect("nothing panics with it").keep(context),
            None => Poll::Ready(()),
        }));
        Body { early, keeper: Some(keeper) }.boxed_unsync()
    }

    /// Replaces the stream that writes a body: it traps if the run has written too much.
    pub fn watch(&self, stream: DynOutputStream) -> DynOutputStream {
        Box::new(Watched { stream, run: self.0.clone() })
    }
}

/// From now on the body from `keep` has a reader, and the guest waits for it.
pub fn hand_over(body: Option<&mut HyperOutgoingBody>) -> Result<()> {
    match body.map(|body| Pin::new(body).poll_frame(&mut Context::from_waker(Waker::noop()))) {
        Some(Poll::Ready(_)) => Err(too_much()),
        _ => Ok(()),
    }
}

struct Early {
    body: HyperOutgoingBody,
    bytes: Vec<u8>, // in one buffer: a guest may write single bytes
    end: Read,      // trailers or an error, after the bytes
    run: Arc<Run>,
}

impl Early {
    /// Buffers all bytes that have come.
    fn keep(&mut self, context: &mut Context<'_>) -> Poll<()> {
        while self.end.is_none() {
            match ready!(Pin::new(&mut self.body).poll_frame(context)) {
                Some(Ok(frame)) if frame.is_data() => self.add(&frame.into_data().unwrap_or_default()),
                None => break,
                end => self.end = end,
            }
        }
        Poll::Ready(())
    }

    /// Past the limit this drops the body, so that a guest waiting to write continues, and traps.
    fn add(&mut self, bytes: &[u8]) {
        let of_run = self.run.bytes.load(Ordering::Relaxed) + bytes.len();
        if self.bytes.len() + bytes.len() > MOST_OF_BODY || of_run > MOST_OF_RUN {
            self.run.has_too_much.store(true, Ordering::Relaxed);
            self.body = Empty::new().map_err(|never| match never {}).boxed_unsync();
            return;
        }
        self.run.bytes.store(of_run, Ordering::Relaxed);
        self.bytes.extend_from_slice(bytes);
    }

    fn take(&mut self) -> Vec<u8> {
        self.run.bytes.fetch_sub(self.bytes.len(), Ordering::Relaxed);
        take(&mut self.bytes)
    }
}

impl Drop for Early {
    fn drop(&mut self) {
        self.take();
    }
}

/// The first poll hands over and returns no frame, or an error if the run wrote too much.
struct Body {
    early: Arc<Mutex<Early>>,
    keeper: Option<AbortOnDropJoinHandle<()>>, // until the first poll
}

impl hyper::body::Body for Body {
    type Data = bytes::Bytes;
    type Error = Error;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Read> {
        let is_first = self.keeper.take().is_some();
        let mut early = self.early.lock().expect("nothing panics with it");
        if is_first {
            let _ = early.keep(context);
            if early.run.has_too_much.load(Ordering::Relaxed) {
                return Poll::Ready(Some(Err(Error::HttpProtocolError)));
            }
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        let bytes = early.take();
        if !bytes.is_empty() {
            return Poll::Ready(Some(Ok(Frame::data(bytes.into()))));
        }
        match early.end.take() {
            None => Pin::new(&mut early.body).poll_frame(context),
            end => Poll::Ready(end),
        }
    }
}

struct Watched {
    stream: DynOutputStream,
    run: Arc<Run>,
}

impl Watched {
    fn check<T>(&self, done: std::result::Result<T, StreamError>) -> std::result::Result<T, StreamError> {
        if self.run.has_too_much.load(Ordering::Relaxed) { Err(StreamError::Trap(too_much())) } else { done }
    }
}

#[async_trait]
impl OutputStream for Watched {
    fn write(&mut self, bytes: bytes::Bytes) -> std::result::Result<(), StreamError> {
        let done = self.stream.write(bytes);
        self.check(done)
    }

    fn flush(&mut self) -> std::result::Result<(), StreamError> {
        let done = self.stream.flush();
        self.check(done)
    }

    fn check_write(&mut self) -> std::result::Result<usize, StreamError> {
        let room = self.stream.check_write();
        self.check(room)
    }
}

#[async_trait]
impl Pollable for Watched {
    async fn ready(&mut self) {
        self.stream.ready().await;
    }
}
