//! A model of `wasinn serve` around a model of the host: it takes image files, and returns labels. A component that
//! exports wasinn:serve/model.
//!
//! The host's model takes gray images of 8x8 pixels, float32 [N, 1, 8, 8], and gives the probability of each class,
//! float32 [N, classes]: models/digits.onnx.

use std::io::Cursor;

use exports::wasinn::serve::model::{Datatype, Error, Guest, Metadata, Tensor, TensorMetadata};
use wasi::nn::graph::load_by_name;
use wasi::nn::tensor::{Tensor as Input, TensorType};

wit_bindgen::generate!({
    path: ["../../guest/wit/deps/wasi-nn", "../../guest/wit/deps/wasinn-serve"],
    world: "wasinn:serve/guest-model",
    generate_all,
});

struct Classifier;
export!(Classifier);

const SIDE: u32 = 8;

impl Guest for Classifier {
    fn describe() -> Metadata {
        let io =
            |name: &str, datatype, shape: &[i64]| TensorMetadata { name: name.into(), datatype, shape: shape.into() };
        Metadata {
            inputs: vec![io("image", Datatype::Bytes, &[-1])],
            outputs: vec![io("label", Datatype::Bytes, &[-1]), io("scores", Datatype::Fp32, &[-1, -1])],
        }
    }

    // The input is as described: one tensor, of BYTES.
    fn infer(inputs: Vec<Tensor>, _: Vec<String>) -> Result<Vec<Tensor>, Error> {
        let images = elements(&inputs[0].data);
        let mut pixels = Vec::new();
        for (i, image) in images.iter().enumerate() {
            let gray = read_image(image).map_err(|why| Error::InvalidArgument(format!("image {i} is {why}")))?;
            pixels.extend(gray);
        }
        let (classes, scores) = classify(images.len(), &pixels)?;
        let labels: Vec<u8> = scores.chunks(4 * classes.max(1)).flat_map(label_of).collect();
        let n = images.len() as u64;
        Ok(vec![
            Tensor { name: "label".into(), datatype: Datatype::Bytes, shape: vec![n], data: labels },
            Tensor { name: "scores".into(), datatype: Datatype::Fp32, shape: vec![n, classes as u64], data: scores },
        ])
    }
}

/// Reads BYTES: before each element comes its length, in four bytes.
fn elements(mut bytes: &[u8]) -> Vec<&[u8]> {
    let mut elements = Vec::new();
    while let Some((length, rest)) = bytes.split_first_chunk() {
        let (element, rest) = rest.split_at(u32::from_le_bytes(*length) as usize);
        elements.push(element);
        bytes = rest;
    }
    elements
}

/// The pixels as the model's input: a gray value of 255 is 1.
fn read_image(bytes: &[u8]) -> Result<Vec<u8>, &'static str> {
    let mut image = png::Decoder::new(Cursor::new(bytes)).read_info().map_err(|_| "not a PNG")?;
    if (image.info().width, image.info().height) != (SIDE, SIDE)
        || image.output_color_type() != (png::ColorType::Grayscale, png::BitDepth::Eight)
    {
        return Err("not gray, of 8x8 pixels");
    }
    let mut gray = [0; (SIDE * SIDE) as usize];
    image.next_frame(&mut gray).map_err(|_| "not a PNG")?;
    Ok(gray.iter().flat_map(|&value| (f32::from(value) / 255.0).to_le_bytes()).collect())
}

/// Computes all images at once. Returns the number of classes, and the scores of each image.
fn classify(n: usize, pixels: &[u8]) -> Result<(usize, Vec<u8>), Error> {
    if n == 0 {
        return Ok((0, Vec::new()));
    }
    // The host's message for an error.
    let failed = |error: wasi::nn::errors::Error| Error::Failed(error.data());
    let context = load_by_name("digits").map_err(failed)?.init_execution_context().map_err(failed)?;
    let input = Input::new(&[n as u32, 1, SIDE, SIDE], TensorType::Fp32, pixels);
    let outputs = context.compute(vec![("image".into(), input)]).map_err(failed)?;
    let scores = outputs[0].1.data();
    Ok((scores.len() / 4 / n, scores))
}

/// The best class, as an element of BYTES.
fn label_of(scores: &[u8]) -> Vec<u8> {
    let scores = scores.chunks_exact(4).map(|bytes| f32::from_le_bytes(bytes.try_into().unwrap()));
    let best = scores.enumerate().max_by(|(_, one), (_, other)| one.total_cmp(other));
    let label = best.map_or(String::new(), |(class, _)| class.to_string());
    [&(label.len() as u32).to_le_bytes(), label.as_bytes()].concat()
}
