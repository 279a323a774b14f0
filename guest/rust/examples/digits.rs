//! The example of the README.

use wasinn_guest::{Graph, Result};

fn main() -> Result<()> {
    let context = Graph::load_by_name("digits")?.init_execution_context()?;
    let image = [0.5f32; 64];
    context.set_input(0, &image, &[1, 1, 8, 8])?;
    context.compute()?;
    println!("{:?}", context.get_output_vec::<f32>(0)?);
    Ok(())
}
