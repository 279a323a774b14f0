use wasinn_guest::{Element, Graph, Result, F16};

use crate::{print_elements, Outcome};

/// Elements of T go through a model whose output is its input.
fn through<T: Element>(model: &str, data: &[T], dims: &[u32]) -> Result<()> {
    let context = Graph::load_by_name(model)?.init_execution_context()?;
    context.set_input(0, data, dims)?;
    context.compute()?;
    print_elements(model, &context.get_output_vec::<T>(0)?);
    Ok(())
}

pub fn run() -> Outcome {
    const DIMS: [u32; 2] = [2, 3];
    through("identity_f16", &[F16(0x3c00), F16(0), F16(0xc000), F16(0x7bff), F16(1), F16(0x8000)], &DIMS)?;
    through("identity_f32", &[1.5f32, -0.0, f32::MAX, f32::MIN_POSITIVE, f32::INFINITY, -2.5], &DIMS)?;
    through("identity_f64", &[1.5f64, -0.0, f64::MAX, f64::MIN_POSITIVE, f64::INFINITY, -2.5], &DIMS)?;
    through("identity_u8", &[0u8, 1, 127, 128, 254, 255], &DIMS)?;
    through("identity_i8", &[0i8, 1, 127, -128, -2, -1], &DIMS)?;
    through("identity_i32", &[0i32, 1, i32::MAX, i32::MIN, -2, -1], &DIMS)?;
    through("identity_u32", &[0u32, 1, 0x7fff_ffff, 0x8000_0000, 0xffff_fffe, u32::MAX], &DIMS)?;
    through("identity_i64", &[0i64, 1, i64::MAX, i64::MIN, -2, -1], &DIMS)?;
    through("identity_u64", &[0u64, 1, i64::MAX as u64, 1 << 63, u64::MAX - 1, u64::MAX], &DIMS)?;
    through("identity_scalar", &[7f32], &[])?;
    through::<f32>("identity_empty", &[], &[0, 3])?;
    Ok(())
}
