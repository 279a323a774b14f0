//! Reads digits with a model of the host's, through wasi:nn: a component in Rust.
//!
//!     classify-rust.component.wasm [--raw] IMAGE...
//!
//! The model takes gray images of 8x8 pixels, float32 [N, 1, 8, 8], and gives the probability of each class, float32
//! [N, classes]: models/digits.onnx. With --raw it prints for each image: file name, class, the output's bytes in hex.

use std::{env, error::Error, fs::File, io::BufReader, process::ExitCode};

use wasi::nn::graph::load_by_name;
use wasi::nn::inference::GraphExecutionContext;
use wasi::nn::tensor::{Tensor, TensorType};

wit_bindgen::generate!({ path: "../../../guest/wit/deps/wasi-nn", world: "ml" });

type Failure = Box<dyn Error>;

const SIDE: u32 = 8;

/// The pixels as the model's input: a gray value of 255 is 1.
fn read_image(path: &str) -> Result<Vec<u8>, Failure> {
    let mut image = png::Decoder::new(BufReader::new(File::open(path)?)).read_info()?;
    if (image.info().width, image.info().height) != (SIDE, SIDE)
        || image.output_color_type() != (png::ColorType::Grayscale, png::BitDepth::Eight)
    {
        return Err("not a gray image of 8x8 pixels".into());
    }
    let mut gray = [0; (SIDE * SIDE) as usize];
    image.next_frame(&mut gray)?;
    Ok(gray.iter().flat_map(|&value| (f32::from(value) / 255.0).to_le_bytes()).collect())
}

/// The output's bytes.
fn classify(context: &GraphExecutionContext, path: &str) -> Result<Vec<u8>, Failure> {
    let image = Tensor::new(&[1, 1, SIDE, SIDE], TensorType::Fp32, &read_image(path)?);
    let outputs = context.compute(vec![("image".into(), image)])?;
    Ok(outputs[0].1.data())
}

fn show(path: &str, output: &[u8], raw: bool) {
    let scores: Vec<f32> = output.chunks_exact(4).map(|bytes| f32::from_le_bytes(bytes.try_into().unwrap())).collect();
    let best = (1..scores.len()).fold(0, |best, i| if scores[i] > scores[best] { i } else { best });
    if raw {
        let hex: String = output.iter().map(|byte| format!("{byte:02x}")).collect();
        println!("{path} {best} {hex}");
    } else {
        println!("{path}  {best}  {:5.1} %", scores[best] * 100.0);
    }
}

fn run(images: &[String], raw: bool) -> Result<(), Failure> {
    if images.is_empty() {
        return Err("usage: classify-rust.component.wasm [--raw] IMAGE...".into());
    }
    let context = load_by_name("digits")?.init_execution_context()?;
    for path in images {
        let output = classify(&context, path).map_err(|error| format!("{path}: {error}"))?;
        show(path, &output, raw);
    }
    Ok(())
}

fn main() -> ExitCode {
    let mut images: Vec<String> = env::args().skip(1).collect();
    let raw = images.first().is_some_and(|argument| argument == "--raw");
    if raw {
        images.remove(0);
    }
    match run(&images, raw) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("classify: {error}");
            ExitCode::FAILURE
        }
    }
}

/// The host's message for an error.
impl From<wasi::nn::errors::Error> for Failure {
    fn from(error: wasi::nn::errors::Error) -> Self {
        error.data().into()
    }
}
