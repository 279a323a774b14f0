//! A request's body, and an answer, by wasi:http.
use wasip2::http::types::{
    Fields, IncomingRequest, OutgoingBody, OutgoingResponse, ResponseOutparam,
};

pub fn read(request: &IncomingRequest) -> Vec<u8> {
    const PIECE: u64 = 64 << 10;
    let body = request.consume().expect("nobody else takes it");
    let stream = body.stream().expect("nobody else takes it");
    let mut bytes = Vec::new();
    while let Ok(piece) = stream.blocking_read(PIECE) {
        bytes.extend(piece);
    }
    bytes
}

pub fn answer(out: ResponseOutparam, status: u16, content_type: &str, bytes: &[u8]) {
    /// The most bytes that a stream takes at once.
    const PIECE: usize = 4096;
    let headers = Fields::new();
    headers
        .append("Content-Type", content_type.as_bytes())
        .expect("a header");
    let response = OutgoingResponse::new(headers);
    response.set_status_code(status).expect("a status");
    let body = response.body().expect("nobody else takes it");
    ResponseOutparam::set(out, Ok(response));
    let stream = body.write().expect("nobody else takes it");
    for piece in bytes.chunks(PIECE) {
        if stream.blocking_write_and_flush(piece).is_err() {
            return; // the client is gone
        }
    }
    drop(stream);
    let _ = OutgoingBody::finish(body, None);
}
