use wasinn_guest::{Context, Error, Graph, Result};

use crate::{print_bytes, Outcome};

/// All pieces, and what ended them.
fn generate(context: &Context) -> Result<(Vec<Vec<u8>>, Error)> {
    let mut pieces = vec![];
    loop {
        match context.compute_single() {
            Ok(()) => pieces.push(context.get_output_single(0)?),
            Err(error) => return Ok((pieces, error)),
        }
    }
}

pub fn run(config: &str, prompt: &str) -> Outcome {
    let context = Graph::load_by_name_with_config("lm", config)?.init_execution_context()?;
    context.set_input(0, prompt.as_bytes(), &[prompt.len() as u32])?;
    let (pieces, end) = generate(&context)?;
    println!("pieces {}", pieces.len());
    print_bytes("text", &pieces.concat());
    println!("end {end}");
    print_bytes("whole", &context.get_output_vec::<u8>(0)?);
    context.fini_single()?;
    context.compute_single()?; // begins another one
    println!("again {}", context.get_output_single::<u8>(0)? == pieces[0]);
    context.fini_single()?;
    context.finalize()?;
    Ok(())
}
