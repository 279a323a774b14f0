//! wasi:nn/inference

use wasmtime::component::{Resource, ResourceType, WasmList};
use wasmtime::{AsContextMut, Result};

use crate::calls::Calls;
use crate::define::Compute;
use crate::text::{Text, to_strs};
use crate::types::{Context, Instance, Store, Tensor};
use crate::views::{Shown, ShownTensors};
use crate::wit::{NamedTensor, WitResult};

pub fn define(mut instance: Instance<'_>, calls: Calls, compute: &Compute) -> Result<()> {
    let table = calls.functions;
    instance.resource("graph-execution-context", ResourceType::host::<Context>(), move |mut store, rep| {
        // SAFETY: any rep may be asked for.
        calls.check(unsafe { (table.context_drop)(calls.guest(&mut store), rep) })
    })?;
    match compute {
        Compute::Whole => define_whole(instance, calls),
        Compute::Steps => define_steps(instance, calls),
    }
}

fn define_whole(mut instance: Instance<'_>, calls: Calls) -> Result<()> {
    let table = calls.functions;
    type Arguments = (Resource<Context>, WasmList<(Text, Resource<Tensor>)>);
    let compute = move |mut store: Store<'_>, (context, inputs): Arguments| {
        let guest = calls.guest(&mut store);
        let inputs = inputs.iter(store.as_context_mut())?.collect::<Result<Vec<_>>>()?;
        let names = to_strs(inputs.iter().map(|(name, _)| name), &store)?;
        let named: Vec<_> = names.iter().zip(&inputs).map(|(name, (_, tensor))| named_tensor(name, tensor)).collect();
        let mut out = WitResult::default();
        let mut outputs = Shown::<NamedTensor>::empty();
        // SAFETY: the names live until the end of this function.
        calls.check(unsafe {
            (table.context_compute)(guest, context.rep(), named.as_ptr(), named.len(), &mut out, outputs.out())
        })?;
        Ok((out.value(ShownTensors::new(outputs)?),))
    };
    instance.func_wrap("[method]graph-execution-context.compute", compute)
}

// SAFETY, for all of this function: arguments are valid for the call, and the table's functions write what they are asked
// for.
#[allow(clippy::undocumented_unsafe_blocks)]
fn define_steps(mut instance: Instance<'_>, calls: Calls) -> Result<()> {
    let table = calls.functions;
    type SetInput = (Resource<Context>, Text, Resource<Tensor>);
    let set_input = move |mut store: Store<'_>, (context, name, tensor): SetInput| {
        let guest = calls.guest(&mut store);
        let name = name.to_str(&store)?;
        let mut out = WitResult::default();
        let input = named_tensor(&name, &tensor);
        calls.check(unsafe { (table.context_set_input)(guest, context.rep(), &input, &mut out) })?;
        Ok((out.value(()),))
    };
    instance.func_wrap("[method]graph-execution-context.set-input", set_input)?;
    let compute = move |mut store: Store<'_>, (context,): (Resource<Context>,)| {
        let mut out = WitResult::default();
        calls.check(unsafe { (table.context_compute_set)(calls.guest(&mut store), context.rep(), &mut out) })?;
        Ok((out.value(()),))
    };
    instance.func_wrap("[method]graph-execution-context.compute", compute)?;
    let get_output = move |mut store: Store<'_>, (context, name): (Resource<Context>, Text)| {
        let guest = calls.guest(&mut store);
        let name = name.to_str(&store)?;
        let mut out = WitResult::default();
        calls.check(unsafe {
            (table.context_get_output)(guest, context.rep(), name.as_ptr().cast(), name.len(), &mut out)
        })?;
        Ok((out.resource::<Tensor>(),))
    };
    instance.func_wrap("[method]graph-execution-context.get-output", get_output)
}

pub fn named_tensor(name: &str, tensor: &Resource<Tensor>) -> NamedTensor {
    NamedTensor { name: name.as_ptr().cast(), name_size: name.len(), tensor: tensor.rep() }
}
