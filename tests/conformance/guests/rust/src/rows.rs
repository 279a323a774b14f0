use wasinn_guest::{raw, Context, Error, Graph, Input, Output, Result};

use crate::{print_elements, Outcome};

const A: [f32; 4] = [1.0, 2.0, 3.0, 4.0];
const B: [f32; 4] = [10.0, 20.0, 30.0, 40.0];
const DIMS: [u32; 2] = [2, 2];

fn show(name: &str, context: &Context) -> Result<()> {
    print_elements(&format!("{name}.difference"), &context.get_output_vec::<f32>(0)?);
    print_elements(&format!("{name}.sum"), &context.get_output_vec::<f32>(1)?);
    Ok(())
}

/// An output of a context becomes the input of another one, and of itself.
fn outputs_as_inputs(graph: &Graph) -> Result<Context> {
    let (first, second) = (graph.init_execution_context()?, graph.init_execution_context()?);
    first.set_input(0, &A, &DIMS)?;
    first.set_input(1, &B, &DIMS)?;
    first.compute()?;
    show("first", &first)?;
    second.set_input_from_output(0, &first, 1)?;
    second.set_input(1, &B, &DIMS)?;
    second.compute()?;
    show("second", &second)?;
    second.set_input_from_output(1, &second, 0)?;
    second.compute()?;
    show("itself", &second)?;
    Ok(second)
}

fn chosen_outputs(context: &Context) -> Result<()> {
    context.select_output(1)?;
    context.compute()?;
    print_elements("chosen", &context.get_output_vec::<f32>(1)?);
    assert_eq!(context.get_output_vec::<f32>(0), Err(Error::InvalidArgument));
    context.select_output_by_name("difference")?;
    context.compute()?;
    show("both", context)
}

fn in_one_call(graph: &Graph) -> Result<()> {
    let (mut difference, mut sum) = ([0f32; 4], [0f32; 6]); // more than is needed
    let inputs = [Input::named("b", &B, &DIMS), Input::new(0, &A, &DIMS)];
    let mut outputs = [Output::named("sum", &mut sum), Output::new(0, &mut difference)];
    graph.compute_once(&inputs, &mut outputs)?;
    assert_eq!((outputs[0].written(), outputs[1].written()), (16, 16));
    print_elements("once.difference", &difference);
    print_elements("once.sum", &sum[..4]);
    Ok(())
}

pub fn run() -> Outcome {
    let graph = Graph::load_by_name("two_in_two_out")?;
    println!("describe {}", graph.describe()?);
    let context = outputs_as_inputs(&graph)?;
    chosen_outputs(&context)?;
    in_one_call(&graph)?;
    // The functions below, by the numbers that the values above are.
    let mut other = 0;
    // SAFETY: the place is one of a number; the context has set no places for the host to write to.
    let errors = unsafe {
        [
            raw::wasi_nn_init_execution_context(graph.handle(), &mut other),
            raw::wasi_nn_compute(context.handle()),
            raw::wasi_nn_compute(other),
        ]
    };
    assert_eq!(errors, [0, 0, 1]);
    println!("done");
    Ok(())
}
