use std::cell::Cell;
use std::fs;

use wasinn_guest::{last_error, Context, Encoding, Error, Graph, Input, Output, Result, Target};

use crate::Outcome;

const DIMS: [u32; 4] = [1, 1, 8, 8];
const IMAGE: [f32; 64] = [0.5; 64];

/// "STEP CODE NEEDED WORDS": what should have failed, how many bytes a buffer has to have, and the host's words.
fn show<T>(step: &str, result: Result<T>) -> Result<()> {
    let error = result.err().unwrap_or(Error::Other(0));
    let needed = match error {
        Error::TooLarge { needed } => needed.unwrap_or(0),
        _ => 0,
    };
    println!("{step} {} {needed} {}", error.code(), last_error()?);
    Ok(())
}

fn loads(model: &[u8]) -> Result<()> {
    show("no_name", Graph::load_by_name("nothing"))?;
    show("no_format", Graph::load_as(&[model], "no-format", Target::Cpu))?;
    show("no_model", Graph::load(&[&model[..100]], Encoding::ONNX, Target::Cpu))?;
    show("no_parts", Graph::load(&[], Encoding::ONNX, Target::Cpu))?;
    show("no_key", Graph::load_by_name_with_config("digits", r#"{"no_key": 1}"#))
}

/// Lengths that do not belong together: the host counts.
fn lengths(context: &Context) -> Result<()> {
    show("shorter", context.set_input(0, &IMAGE[1..], &DIMS))?;
    show("longer", context.set_input(0, &[0f32; 65], &DIMS))?;
    show("empty", context.set_input::<f32>(0, &[], &DIMS))?;
    show("huge", context.set_input(0, &IMAGE, &[u32::MAX; 4]))?;
    show("rank", context.set_input(0, &IMAGE, &[1; 100]))?;
    show("type", context.set_input(0, &[0u8; 64], &DIMS))?;
    show("type_of_as_many_bytes", context.set_input(0, &[0i32; 64], &DIMS))?;
    show("shorter_by_name", context.set_input_by_name("image", &IMAGE[1..], &DIMS))?;
    let mut scores = [0f32; 10];
    let shorter = [Input::new(0, &IMAGE[1..], &DIMS)];
    show("shorter_once", context.compute_once(&shorter, &mut [Output::new(0, &mut scores)]))
}

fn order(context: &Context) -> Result<()> {
    show("no_input", context.compute())?;
    show("no_output", context.get_output(0, &mut [0f32; 10]))?;
    show("no_index", context.set_input(1, &IMAGE, &DIMS))?;
    show("no_input_name", context.set_input_by_name("", &IMAGE, &DIMS))?;
    let mut scores = [0f32; 10];
    let unnamed = [Input::named("", &IMAGE, &DIMS)];
    show("no_input_name_once", context.compute_once(&unnamed, &mut [Output::new(0, &mut scores)]))?;
    show("no_piece", context.compute_single())
}

/// Buffers that are too small, which is no error that the host has words for.
fn sizes(graph: &Graph) -> Result<()> {
    let context = graph.init_execution_context()?;
    context.set_input(0, &IMAGE, &DIMS)?;
    context.compute()?;
    let mut small = [1f32; 9];
    show("small", context.get_output(0, &mut small))?;
    show("none", context.get_output::<f32>(0, &mut []))?;
    show("small_by_name", context.get_output_by_name("probabilities", &mut small))?;
    let mut outputs = [Output::new(0, &mut small)];
    show("small_once", context.compute_once(&[Input::new(0, &IMAGE, &DIMS)], &mut outputs))?;
    println!("written {}", outputs[0].written());
    show("nothing_left", context.get_output(0, &mut [0f32; 10]))?;
    println!("untouched {}", small == [1f32; 9]);

    let (cells, written) = ([const { Cell::new(1f32) }; 9], Cell::new(0));
    let mut context = context.into_writing();
    context.set_output(0, &cells, &written)?;
    context.set_input(0, &IMAGE, &DIMS)?;
    show("small_place", context.compute())?;
    println!("written {}, untouched {}", written.get(), cells.iter().all(|cell| cell.get() == 1.0));
    println!("still_there {}", context.get_output_vec::<f32>(0)?.len());
    context.set_output::<f32>(0, &[], &written)?;
    show("no_place", context.compute())
}

/// An output of bytes is not taken for elements that it has no whole number of.
fn types() -> Result<()> {
    let context = Graph::load_by_name("identity_u8")?.init_execution_context()?;
    context.set_input(0, &[1u8, 2, 3, 4, 5, 6], &[2, 3])?;
    context.compute()?;
    let mut out = [0f32; 2];
    println!("half_an_element {}", context.get_output(0, &mut out).unwrap_err());
    println!("half_an_element {}", context.get_output_vec::<f64>(0).unwrap_err());
    show("no_way", context.set_input_from_output(0, &context, 1))
}

pub fn run(model: &str) -> Outcome {
    let model = fs::read(model)?;
    loads(&model)?;
    let graph = Graph::load_by_name("digits")?;
    let context = graph.init_execution_context()?;
    lengths(&context)?;
    order(&context)?;
    sizes(&graph)?;
    types()?;
    println!("{}, {}", Error::NotFound, Error::Other(77));
    Ok(())
}
