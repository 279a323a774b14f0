//! A model of wasinn:serve that does as it is told, also what no model should. Its name, which is the first argument, says how it
//! describes itself, and the input "what" how it infers.

use std::hint::black_box;
use std::process::exit;
use std::thread::sleep;
use std::time::Duration;

use exports::wasinn::serve::model::{Datatype, Error, Guest, Metadata, Tensor, TensorMetadata};
use wasi::nn::tensor::{Tensor as NnTensor, TensorType};

wit_bindgen::generate!({
    path: ["../../../../guest/wit/deps/wasi-nn", "../../../../guest/wit/deps/wasinn-serve"],
    world: "wasinn:serve/guest-model",
    generate_all,
});

struct Probe;
export!(Probe);

const DATATYPES: [Datatype; 14] = [
    Datatype::Bool,
    Datatype::Uint8,
    Datatype::Uint16,
    Datatype::Uint32,
    Datatype::Uint64,
    Datatype::Int8,
    Datatype::Int16,
    Datatype::Int32,
    Datatype::Int64,
    Datatype::Fp16,
    Datatype::Bf16,
    Datatype::Fp32,
    Datatype::Fp64,
    Datatype::Bytes,
];

fn io(name: &str, datatype: Datatype, shape: &[i64]) -> TensorMetadata {
    TensorMetadata { name: name.into(), datatype, shape: shape.into() }
}

fn tensor(name: &str, datatype: Datatype, shape: &[u64], data: Vec<u8>) -> Tensor {
    Tensor { name: name.into(), datatype, shape: shape.into(), data }
}

fn loop_forever() -> ! {
    loop {
        black_box(0);
    }
}

fn sleep_forever() -> ! {
    loop {
        sleep(Duration::from_secs(3600));
    }
}

/// Elements of BYTES.
fn elements(texts: impl Iterator<Item = String>) -> Vec<u8> {
    texts.flat_map(|text| [&(text.len() as u32).to_le_bytes(), text.as_bytes()].concat()).collect()
}

/// Every type goes out as it came in, under the same name.
fn describe_types() -> Metadata {
    let ios = || DATATYPES.iter().map(|datatype| io(&format!("{datatype:?}"), *datatype, &[-1])).collect();
    Metadata { inputs: ios(), outputs: ios() }
}

fn describe() -> Metadata {
    Metadata {
        inputs: vec![io("what", Datatype::Bytes, &[1]), io("x", Datatype::Fp32, &[-1, 2])],
        outputs: vec![io("y", Datatype::Fp32, &[-1, 2]), io("label", Datatype::Bytes, &[-1])],
    }
}

fn describe_as(name: &str) -> Metadata {
    let mut metadata = describe();
    let outputs = &mut metadata.outputs;
    match name {
        "types" => return describe_types(),
        "describes_loop" => loop_forever(),
        "describes_sleep" => sleep_forever(),
        "describes_trap" => panic!("no description"),
        "describes_exit" => exit(3),
        "describes_huge" => outputs[0].name = "x".repeat(2 << 20),
        "describes_long" => outputs[0].name = "x".repeat(5000),
        "describes_many" => *outputs = (0..5000).map(|i| io(&i.to_string(), Datatype::Bool, &[])).collect(),
        "describes_twice" => outputs[0].name = "label".into(),
        "describes_rank" => outputs[0].shape = vec![1; 100],
        "describes_dim" => outputs[0].shape = vec![-2],
        "describes_nothing" => outputs.clear(),
        "describes_no_name" => outputs[0].name.clear(),
        _ => {}
    }
    metadata
}

fn doubled(x: &Tensor) -> Vec<Tensor> {
    let rows = x.shape[0];
    let double = |bytes: &[u8]| (2.0 * f32::from_le_bytes(bytes.try_into().unwrap())).to_le_bytes();
    let data = x.data.chunks_exact(4).flat_map(double).collect();
    let labels = elements((0..rows).map(|row| format!("row {row}")));
    vec![tensor("y", Datatype::Fp32, &x.shape, data), tensor("label", Datatype::Bytes, &[rows], labels)]
}

/// By a model of the host's that gives what it gets.
fn by_host(x: &Tensor) -> Result<Vec<Tensor>, Error> {
    let failed = |error: wasi::nn::errors::Error| Error::Failed(error.data());
    let context = wasi::nn::graph::load_by_name("host").map_err(failed)?.init_execution_context().map_err(failed)?;
    let shape: Vec<u32> = x.shape.iter().map(|&dim| dim as u32).collect();
    let outputs = context.compute(vec![("in".into(), NnTensor::new(&shape, TensorType::Fp32, &x.data))]);
    Ok(vec![
        tensor("y", Datatype::Fp32, &x.shape, outputs.map_err(failed)?[0].1.data()),
        tensor("label", Datatype::Bytes, &[0], vec![]),
    ])
}

/// Very many tensors, all of whose bytes are the same ones.
fn one_for_all() -> Vec<Tensor> {
    let bytes = vec![0; 1 << 20].leak();
    // SAFETY: there is none. The server looks at them; if it would have them freed, the guest breaks, and nobody else.
    let alias = |_| unsafe { Vec::from_raw_parts(bytes.as_mut_ptr(), bytes.len(), bytes.len()) };
    (0..4000).map(alias).map(|data| tensor("y", Datatype::Fp32, &[1 << 17, 2], data)).collect()
}

fn grow() -> Vec<Tensor> {
    let mut kept = Vec::new();
    loop {
        kept.push(black_box(vec![1u8; 1 << 20]));
    }
}

/// The same as `doubled`, but for one thing.
fn but(x: &Tensor, change: impl FnOnce(&mut Vec<Tensor>)) -> Result<Vec<Tensor>, Error> {
    let mut outputs = doubled(x);
    change(&mut outputs);
    Ok(outputs)
}

fn infer_as(what: &str, x: &Tensor) -> Result<Vec<Tensor>, Error> {
    match what {
        "host" => by_host(x),
        "invalid" => Err(Error::InvalidArgument("such rows are none".into())),
        "failed" => Err(Error::Failed("the moon is full".into())),
        "long_message" => Err(Error::Failed("é".repeat(5000))),
        "trap" => panic!("as was wanted"),
        "loop" => loop_forever(),
        "sleep" => sleep_forever(),
        "exit" => exit(0),
        "grow" => Ok(grow()),
        "one_for_all" => Ok(one_for_all()),
        "print" => {
            println!("to stdout");
            eprintln!("to stderr");
            Ok(doubled(x))
        }
        "flood" => {
            (0..100_000).for_each(|line| println!("line {line}"));
            Ok(doubled(x))
        }
        "wrong_size" => but(x, |outputs| outputs[0].data.push(0)),
        "wrong_shape" => but(x, |outputs| outputs[0].shape = vec![4]),
        "wrong_type" => but(x, |outputs| outputs[0].datatype = Datatype::Int32),
        "huge_shape" => but(x, |outputs| outputs[0].shape = vec![u64::MAX, 2]),
        "long_shape" => but(x, |outputs| outputs[0].shape = vec![1; 100_000]),
        "empty_shape" => but(x, |outputs| outputs[1] = tensor("label", Datatype::Bytes, &[u64::MAX], vec![])),
        "bad_bytes" => but(x, |outputs| outputs[1].data.push(7)),
        "few_bytes" => but(x, |outputs| outputs[1].shape = vec![5]),
        "unknown" => but(x, |outputs| outputs.push(tensor("z", Datatype::Bool, &[1], vec![1]))),
        "unknown_long" => but(x, |outputs| outputs[0].name = "z".repeat(1 << 20)),
        "twice" => but(x, |outputs| outputs.push(outputs[0].clone())),
        "none" => Ok(vec![]),
        "many" => Ok(vec![tensor("y", Datatype::Fp32, &[0, 2], vec![]); 10_000]),
        "large" => but(x, |outputs| {
            outputs[1] = tensor("label", Datatype::Bytes, &[1], elements(["z".repeat(3 << 20)].into_iter()))
        }),
        _ => Ok(doubled(x)),
    }
}

impl Guest for Probe {
    fn describe() -> Metadata {
        describe_as(&std::env::args().next().unwrap())
    }

    fn infer(inputs: Vec<Tensor>, outputs: Vec<String>) -> Result<Vec<Tensor>, Error> {
        let Some(what) = inputs.iter().find(|input| input.name == "what") else {
            return Ok(inputs); // of every type
        };
        let what = String::from_utf8_lossy(&what.data[4..]).into_owned();
        let x = inputs.iter().find(|input| input.name == "x").unwrap();
        let mut given = infer_as(&what, x)?;
        if what == "wanted" {
            given.retain(|output| outputs.contains(&output.name));
        }
        Ok(given)
    }
}
