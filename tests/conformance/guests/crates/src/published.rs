//! The examples that the crate's documentation has, as they are: the build takes them out of the package.
//!
//!   published lib MODEL                     that of its first page: MobileNet in TensorFlow Lite, whose outputs it only counts
//!   published readme MODEL INPUTS OUTPUTS   that of its README: digits in TensorFlow Lite, 64 floats each in the file INPUTS, ten
//!                                           floats for each in the file OUTPUTS

mod lib {
    include!(concat!(env!("WASI_NN_PUBLISHED"), "/lib.rs"));

    pub fn run(model_path: &'static str) -> Result<(), wasi_nn::Error> {
        test(model_path)
    }
}

#[allow(unused_imports)] // the example imports the crate itself, too
mod readme {
    use wasi_nn::{Error, ExecutionTarget, GraphBuilder, GraphEncoding, TensorType};

    pub fn run(model_path: &str, input_buffer: &[f32]) -> Result<Vec<f32>, Error> {
        let input_dims = [1, 1, 8, 8];
        let mut output_buffer = vec![0f32; 10];
        let output_num_bytes = include!(concat!(env!("WASI_NN_PUBLISHED"), "/readme.rs"));
        output_buffer.truncate(output_num_bytes / 4);
        Ok(output_buffer)
    }
}

fn main() {
    let args: Vec<&'static str> = std::env::args().skip(1).map(|arg| &*arg.leak()).collect();
    match args[..] {
        ["lib", model] => lib::run(model).unwrap(),
        ["readme", model, inputs, outputs] => readme_of_digits(model, inputs, outputs),
        _ => panic!("lib or readme, and files, and not {args:?}"),
    }
}

fn readme_of_digits(model: &str, inputs: &str, outputs: &str) {
    let bytes = std::fs::read(inputs).unwrap();
    let pixels: Vec<f32> = bytes.chunks_exact(4).map(|b| f32::from_le_bytes(b.try_into().unwrap())).collect();
    let scores = pixels.chunks_exact(64).flat_map(|image| readme::run(model, image).unwrap());
    std::fs::write(outputs, scores.flat_map(f32::to_le_bytes).collect::<Vec<u8>>()).unwrap();
}
