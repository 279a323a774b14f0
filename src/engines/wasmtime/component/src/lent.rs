//! The body of a request to an instance that goes on after the answer: it ends with the answer, as its memory does.

use bytes::Bytes;
use hyper::body::{Body, Frame};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use wasmtime_wasi_http::Error;

/// The size of a copied piece: what a guest holds of a body afterwards, at the most.
const PIECE: usize = 64 << 10;

#[derive(Clone)]
pub struct Lent(Arc<Mutex<Option<&'static [u8]>>>);

impl Lent {
    /// # Safety
    /// The memory is valid until `end` was called.
    pub unsafe fn new(bytes: &'static [u8]) -> Self {
        Lent(Arc::new(Mutex::new(Some(bytes))))
    }

    /// From now on readers get an error.
    pub fn end(&self) {
        *self.0.lock().expect("nothing panics with it") = None;
    }
}

impl Body for Lent {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        let mut rest = self.0.lock().expect("nothing panics with it");
        Poll::Ready(match *rest {
            None => Some(Err(Error::ConnectionTerminated)),
            Some([]) => None,
            Some(bytes) => {
                let (piece, others) = bytes.split_at(bytes.len().min(PIECE));
                *rest = Some(others);
                Some(Ok(Frame::data(Bytes::copy_from_slice(piece))))
            }
        })
    }
}
