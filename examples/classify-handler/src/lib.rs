//! Answers HTTP requests behind a route of `wasinn serve`: the request is an image, the answer has the probabilities of
//! its classes. A component that exports wasi:http/incoming-handler.
//!
//! The model takes gray images of 8x8 pixels, float32 [N, 1, 8, 8]: models/digits.onnx.

use std::io::Cursor;

use wasi::nn::errors::Error;
use wasi::nn::graph::load_by_name;
use wasi::nn::tensor::{Tensor, TensorType};
use wasip2::http::types::{
    Fields, IncomingBody, IncomingRequest, Method, OutgoingBody, OutgoingResponse, ResponseOutparam,
};
use wasip2::io::streams::StreamError;

wit_bindgen::generate!({ path: "../../guest/wit/deps/wasi-nn", world: "ml" });
wasip2::http::proxy::export!(Handler);

struct Handler;

/// A status, and the reason.
type Failure = (u16, String);

const SIDE: u32 = 8;

impl wasip2::exports::http::incoming_handler::Guest for Handler {
    fn handle(request: IncomingRequest, out: ResponseOutparam) {
        let (status, body) = match classify(&request) {
            Ok(scores) => {
                let list: Vec<String> = scores.iter().map(|score| format!("{score:.6}")).collect();
                (200, format!("{{\"scores\": [{}]}}\n", list.join(", ")))
            }
            Err((status, why)) => (status, format!("{{\"error\": \"{why}\"}}\n")),
        };
        answer(out, status, body.as_bytes());
    }
}

fn classify(request: &IncomingRequest) -> Result<Vec<f32>, Failure> {
    if !matches!(request.method(), Method::Post) {
        return Err((405, "POST an image".into()));
    }
    let pixels = read_image(&read_body(request)).map_err(|error| (400, error))?;
    infer(&pixels).map_err(|error| (503, format!("{:?}", error.code())))
}

fn read_body(request: &IncomingRequest) -> Vec<u8> {
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

/// The pixels as the model's input: a gray value of 255 is 1.
fn read_image(bytes: &[u8]) -> Result<Vec<u8>, String> {
    let mut image = png::Decoder::new(Cursor::new(bytes)).read_info().map_err(|_| "not a PNG image")?;
    if (image.info().width, image.info().height) != (SIDE, SIDE)
        || image.output_color_type() != (png::ColorType::Grayscale, png::BitDepth::Eight)
    {
        return Err("not a gray image of 8x8 pixels".into());
    }
    let mut gray = [0; (SIDE * SIDE) as usize];
    image.next_frame(&mut gray).map_err(|_| "not a PNG image")?;
    Ok(gray.iter().flat_map(|&value| (f32::from(value) / 255.0).to_le_bytes()).collect())
}

fn infer(pixels: &[u8]) -> Result<Vec<f32>, Error> {
    let context = load_by_name("digits")?.init_execution_context()?;
    let image = Tensor::new(&[1, 1, SIDE, SIDE], TensorType::Fp32, pixels);
    let outputs = context.compute(vec![("image".into(), image)])?;
    let scores = outputs[0].1.data();
    Ok(scores.chunks_exact(4).map(|bytes| f32::from_le_bytes(bytes.try_into().unwrap())).collect())
}

fn answer(out: ResponseOutparam, status: u16, bytes: &[u8]) {
    /// The most that a stream takes at once.
    const PIECE: usize = 4096;
    let headers = Fields::new();
    headers.append("Content-Type", b"application/json").expect("a header as any other");
    let response = OutgoingResponse::new(headers);
    response.set_status_code(status).expect("a known status");
    let body = response.body().expect("nobody else takes it");
    ResponseOutparam::set(out, Ok(response));
    let stream = body.write().expect("nobody else takes it");
    for piece in bytes.chunks(PIECE) {
        if stream.blocking_write_and_flush(piece).is_err() {
            return; // whom this is for is gone
        }
    }
    drop(stream);
    let _ = OutgoingBody::finish(body, None);
}
