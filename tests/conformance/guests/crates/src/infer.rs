//! Runs models on the tensors of a file, each step as the crate's examples have it.
//!
//!   infer TYPE DIMS INPUTS OUTPUTS MODEL...
//!
//! TYPE (F32, U8) and DIMS (1,1,8,8) are those of one tensor; the file INPUTS has any number of them, one after the other. MODEL is
//! name:NAME, or bytes:ENCODING:FILE[,FILE] with the crate's own word for the encoding. Outputs are appended to the file OUTPUTS. Prints
//! "MODEL N" for each, N the number of inferences, or "MODEL: ERROR" in the crate's words.

use std::fs;
use std::io::Write;
use wasi_nn::{Error, ExecutionTarget, Graph, GraphBuilder, GraphEncoding, TensorType};

fn encoding_of(word: &str) -> GraphEncoding {
    use GraphEncoding::*;
    let known = [Openvino, Onnx, Tensorflow, Pytorch, TensorflowLite, Autodetec];
    known.into_iter().find(|encoding| format!("{encoding:?}") == word).expect("an encoding of the crate")
}

fn load(model: &str) -> Result<Graph, Error> {
    match model.split(':').collect::<Vec<_>>()[..] {
        ["name", name] => GraphBuilder::default().build_from_cache(name),
        ["bytes", encoding, files] => GraphBuilder::new(encoding_of(encoding), ExecutionTarget::CPU)
            .build_from_files(files.split(',').collect::<Vec<_>>()),
        _ => panic!("name:NAME or bytes:ENCODING:FILES, and not {model}"),
    }
}

struct Task {
    kind: TensorType,
    dims: Vec<usize>,
    inputs: Vec<u8>,
    outputs: fs::File,
}

impl Task {
    fn run(&mut self, model: &str) -> Result<usize, Error> {
        let graph = load(model)?;
        let mut context = graph.init_execution_context()?;
        let size = self.kind.byte_size() * self.dims.iter().product::<usize>();
        let mut buffer = vec![0u8; 1 << 16];
        let mut count = 0;
        for tensor in self.inputs.chunks_exact(size) {
            context.set_input(0, self.kind, &self.dims, tensor)?;
            context.compute()?;
            let written = context.get_output(0, &mut buffer)?;
            self.outputs.write_all(&buffer[..written])?;
            count += 1;
        }
        Ok(count)
    }
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let mut task = Task {
        kind: if args[1] == "U8" { TensorType::U8 } else { TensorType::F32 },
        dims: args[2].split(',').map(|dim| dim.parse().unwrap()).collect(),
        inputs: fs::read(&args[3]).unwrap(),
        outputs: fs::File::create(&args[4]).unwrap(),
    };
    for model in &args[5..] {
        match task.run(model) {
            Ok(count) => println!("{model} {count}"),
            Err(error) => println!("{model}: {error}"),
        }
    }
}
