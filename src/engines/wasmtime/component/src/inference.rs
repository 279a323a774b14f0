//! wasi:nn/inference

use wasmtime::component::{Resource, WasmList};
use wasmtime::{AsContextMut, Result};

use crate::blocking;
use crate::calls::Calls;
use crate::define::Compute;
use crate::text::{HeldText, Text, hold_all};
use crate::types::{Context, Instance, Store, Tensor};
use crate::views::{Shown, ShownTensors};
use crate::wit::{NamedTensor, WitResult};

pub fn define(mut instance: Instance<'_>, calls: Calls, compute: &Compute) -> Result<()> {
    let name = "graph-execution-context";
    blocking::define_resource::<Context>(&mut instance, calls, name, |table| table.context_drop)?;
    match compute {
        Compute::Whole => define_whole(instance, calls),
        Compute::Steps => define_steps(instance, calls),
    }
}

/// list<named-tensor>; the call owns it.
pub type Inputs = WasmList<(Text, Resource<Tensor>)>;

/// The same, with names in the guest's memory.
pub struct HeldInputs {
    tensors: Vec<NamedTensor>,
    _names: Vec<HeldText>,
}

impl HeldInputs {
    pub fn hold(store: &mut Store<'_>, inputs: &Inputs) -> Result<Self> {
        let inputs = inputs.iter(store.as_context_mut())?.collect::<Result<Vec<_>>>()?;
        let names = hold_all(inputs.iter().map(|(name, _)| name), store)?;
        let tensors = names.iter().zip(&inputs).map(|(name, (_, tensor))| named_tensor(name, tensor)).collect();
        Ok(HeldInputs { tensors, _names: names })
    }

    pub fn tensors(&self) -> &[NamedTensor] {
        &self.tensors
    }
}

// SAFETY, for the functions below: arguments are valid for the call, and the table's functions write their outputs.
#[allow(clippy::undocumented_unsafe_blocks)]
fn define_whole(mut instance: Instance<'_>, calls: Calls) -> Result<()> {
    let table = calls.functions;
    let compute = move |store: &mut Store<'_>, (context, inputs): (Resource<Context>, Inputs)| {
        let (context, inputs) = (context.rep(), HeldInputs::hold(store, &inputs)?);
        Ok(move |guest, out: &mut WitResult, outputs: &mut Shown<NamedTensor>| unsafe {
            let inputs = inputs.tensors();
            (table.context_compute)(guest, context, inputs.as_ptr(), inputs.len(), out, outputs.out())
        })
    };
    let finish = |out: WitResult, outputs| Ok(out.value(ShownTensors::new(outputs)?));
    let name = "[method]graph-execution-context.compute";
    blocking::define(&mut instance, calls, name, compute, finish)
}

#[allow(clippy::undocumented_unsafe_blocks)]
fn define_steps(mut instance: Instance<'_>, calls: Calls) -> Result<()> {
    let table = calls.functions;
    type SetInput = (Resource<Context>, Text, Resource<Tensor>);
    let set_input = move |mut store: Store<'_>, (context, name, tensor): SetInput| {
        let guest = calls.guest(&mut store);
        let name = name.hold(&store)?;
        let mut out = WitResult::default();
        let input = named_tensor(&name, &tensor);
        calls.check(unsafe { (table.context_set_input)(guest, context.rep(), &input, &mut out) })?;
        Ok((out.value(()),))
    };
    instance.func_wrap("[method]graph-execution-context.set-input", set_input)?;
    let compute = move |_: &mut Store<'_>, (context,): (Resource<Context>,)| {
        let context = context.rep();
        Ok(move |guest, out: &mut WitResult, _: &mut ()| unsafe { (table.context_compute_set)(guest, context, out) })
    };
    let name = "[method]graph-execution-context.compute";
    blocking::define(&mut instance, calls, name, compute, WitResult::nothing)?;
    define_get_output(instance, calls, "[method]graph-execution-context.get-output")
}

/// A language model computes its prompt's description, so this may take as long as a compute.
#[allow(clippy::undocumented_unsafe_blocks)]
pub fn define_get_output(mut instance: Instance<'_>, calls: Calls, name: &str) -> Result<()> {
    let table = calls.functions;
    let get_output = move |store: &mut Store<'_>, (context, name): (Resource<Context>, Text)| {
        let (context, name) = (context.rep(), name.hold(store)?);
        Ok(move |guest, out: &mut WitResult, _: &mut ()| unsafe {
            (table.context_get_output)(guest, context, name.chars(), name.size, out)
        })
    };
    blocking::define(&mut instance, calls, name, get_output, WitResult::resource::<Tensor>)
}

fn named_tensor(name: &HeldText, tensor: &Resource<Tensor>) -> NamedTensor {
    NamedTensor { name: name.chars(), name_size: name.size, tensor: tensor.rep() }
}
