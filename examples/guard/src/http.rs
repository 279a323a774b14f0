//! Bodies of requests and answers.

use wasip2::http::types::{Fields, IncomingBody, IncomingRequest, OutgoingBody, OutgoingResponse, ResponseOutparam};
use wasip2::io::streams::{OutputStream, StreamError};

pub fn read_body(request: &IncomingRequest) -> Vec<u8> {
    const PIECE: u64 = 64 << 10;
    let body: IncomingBody = request.consume().expect("nobody else takes it");
    let stream = body.stream().expect("nobody else takes it");
    let mut bytes = Vec::new();
    loop {
        match stream.blocking_read(PIECE) {
            Ok(piece) => bytes.extend(piece),
            Err(StreamError::Closed | StreamError::LastOperationFailed(_)) => return bytes,
        }
    }
}

/// An answer that is being written. The stream is dropped before the body.
pub struct Writing {
    stream: OutputStream,
    body: OutgoingBody,
}

/// The client has hung up.
pub struct Gone;

impl Writing {
    pub fn begin(out: ResponseOutparam, status: u16, content_type: &str) -> Self {
        let headers = Fields::new();
        headers.append("Content-Type", content_type.as_bytes()).expect("a header as any other");
        let response = OutgoingResponse::new(headers);
        response.set_status_code(status).expect("a known status");
        let body = response.body().expect("nobody else takes it");
        ResponseOutparam::set(out, Ok(response));
        Writing { stream: body.write().expect("nobody else takes it"), body }
    }

    pub fn write(&self, text: &str) -> Result<(), Gone> {
        /// The most that a stream takes at once.
        const PIECE: usize = 4096;
        text.as_bytes()
            .chunks(PIECE)
            .try_for_each(|piece| self.stream.blocking_write_and_flush(piece).map_err(|_| Gone))
    }

    pub fn end(self) {
        drop(self.stream);
        let _ = OutgoingBody::finish(self.body, None);
    }
}
