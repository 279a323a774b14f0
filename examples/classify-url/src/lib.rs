//! Fetches images by HTTP and prints which digit each shows: a program that is a component and uses wasi:http/outgoing-handler.
//!
//!     classify-url.component.wasm URL...
//!
//! The model takes gray images of 8x8 pixels, float32 [N, 1, 8, 8]: models/digits.onnx.

use std::io::Cursor;

use wasi::nn::errors::Error;
use wasi::nn::graph::load_by_name;
use wasi::nn::tensor::{Tensor, TensorType};
use wasip2::cli::environment;
use wasip2::http::outgoing_handler;
use wasip2::http::types::{ErrorCode, Fields, IncomingResponse, OutgoingRequest, Scheme};
use wasip2::io::streams::StreamError;

wit_bindgen::generate!({ path: "../../guest/wit/deps/wasi-nn", world: "ml" });
wasip2::cli::command::export!(Program);

struct Program;

const SIDE: u32 = 8;
/// The maximum size of an image.
const MOST_BYTES: usize = 1 << 20;

impl wasip2::exports::cli::run::Guest for Program {
    fn run() -> Result<(), ()> {
        let urls = environment::get_arguments();
        let mut result = Ok(());
        for url in urls.iter().skip(1) {
            match classify(url) {
                Ok(line) => println!("{line}"),
                Err(why) => {
                    eprintln!("classify: {url}: {why}");
                    result = Err(());
                }
            }
        }
        result
    }
}

fn classify(url: &str) -> Result<String, String> {
    let pixels = read_image(&read_body(fetch(url)?)?)?;
    let scores = infer(&pixels).map_err(|error| error.data())?;
    let best = (1..scores.len()).fold(0, |best, i| if scores[i] > scores[best] { i } else { best });
    Ok(format!("{url}  {best}  {:5.1} %", scores[best] * 100.0))
}

/// "http://HOST/PATH" or "https://HOST/PATH".
fn request_of(url: &str) -> Option<OutgoingRequest> {
    let (scheme, rest) = url.split_once("://")?;
    let (authority, path) = rest.find('/').map_or((rest, "/"), |at| rest.split_at(at));
    let scheme = match scheme {
        "http" => Scheme::Http,
        "https" => Scheme::Https,
        _ => return None,
    };
    let request = OutgoingRequest::new(Fields::new());
    request.set_scheme(Some(&scheme)).ok()?;
    request.set_authority(Some(authority)).ok()?;
    request.set_path_with_query(Some(path)).ok()?;
    Some(request)
}

fn fetch(url: &str) -> Result<IncomingResponse, String> {
    let request = request_of(url).ok_or("this is no URL of HTTP")?;
    let said = |code: ErrorCode| format!("{code:?}");
    let waiting = outgoing_handler::handle(request, None).map_err(said)?;
    waiting.subscribe().block();
    let response = waiting.get().expect("it is there").expect("nobody else takes it").map_err(said)?;
    match response.status() {
        200 => Ok(response),
        status => Err(format!("the server says {status}")),
    }
}

fn read_body(response: IncomingResponse) -> Result<Vec<u8>, String> {
    const PIECE: u64 = 64 << 10;
    let body = response.consume().expect("nobody else takes it");
    let stream = body.stream().expect("nobody else takes it");
    let mut bytes = Vec::new();
    while bytes.len() <= MOST_BYTES {
        match stream.blocking_read(PIECE) {
            Ok(piece) => bytes.extend(piece),
            Err(StreamError::Closed) => return Ok(bytes),
            Err(StreamError::LastOperationFailed(error)) => return Err(error.to_debug_string()),
        }
    }
    Err(format!("more than {MOST_BYTES} bytes"))
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
