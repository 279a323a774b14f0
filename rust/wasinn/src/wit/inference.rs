//! wasi:nn/inference

use wasinn_sys::{wasinn_wit_named_tensor, wasinn_wit_result};
use wasmtime::component::{Resource, ResourceType, WasmList};
use wasmtime::{AsContextMut, Result};

use crate::wit::blocking::Callers;
use crate::wit::calls::{Calls, nothing, resource, value};
use crate::wit::define::Compute;
use crate::wit::text::{HeldText, Holder, Text};
use crate::wit::types::{Context, Instance, Store, Tensor};
use crate::wit::views::{Shown, ShownTensors};

pub fn define<T: 'static, C: Callers<T>>(
    mut instance: Instance<'_, T>,
    calls: Calls<C>,
    compute: &Compute,
) -> Result<()> {
    define_context(&mut instance, calls)?;
    match compute {
        Compute::Whole => define_whole(instance, calls),
        Compute::Steps => define_steps(instance, calls),
    }
}

pub fn define_context<T: 'static, C: Callers<T>>(instance: &mut Instance<'_, T>, calls: Calls<C>) -> Result<()> {
    let name = "graph-execution-context";
    C::define_resource(calls, instance, name, ResourceType::host::<Context>(), calls.library.functions.context_drop)
}

/// list<named-tensor>; the call owns it.
pub type Inputs = WasmList<(Text, Resource<Tensor>)>;

/// The same, with names in the guest's memory.
pub struct HeldInputs {
    tensors: Vec<wasinn_wit_named_tensor>,
    _converted: Vec<HeldText>, // names elsewhere
}

impl HeldInputs {
    pub fn hold<T: 'static>(store: &mut Store<'_, T>, inputs: &Inputs) -> Result<Self> {
        // Room for few: a guest's list may be long, and not have a tensor at all.
        let mut held = HeldInputs { tensors: Vec::with_capacity(inputs.len().min(8)), _converted: Vec::new() };
        let mut holder = Holder::default();
        for index in 0..inputs.len() {
            let Some(input) = inputs.get(store.as_context_mut(), index) else { break };
            let (name, tensor) = input?;
            let name = holder.hold(&name, store)?;
            held.tensors.push(named_tensor(&name, &tensor));
            if name.is_converted() {
                held._converted.push(name);
            }
        }
        Ok(held)
    }

    pub fn tensors(&self) -> &[wasinn_wit_named_tensor] {
        &self.tensors
    }
}

// SAFETY, for the functions below: arguments are valid for the call, and the table's functions write their outputs.
#[allow(clippy::undocumented_unsafe_blocks)]
fn define_whole<T: 'static, C: Callers<T>>(mut instance: Instance<'_, T>, calls: Calls<C>) -> Result<()> {
    let table = calls.library.functions;
    let compute = move |store: &mut Store<'_, T>, (context, inputs): (Resource<Context>, Inputs)| {
        let (context, inputs) = (context.rep(), HeldInputs::hold(store, &inputs)?);
        Ok(move |guest, out: &mut wasinn_wit_result, outputs: &mut Shown<wasinn_wit_named_tensor>| unsafe {
            let inputs = inputs.tensors();
            (table.context_compute)(guest, context, inputs.as_ptr(), inputs.len(), out, outputs.out())
        })
    };
    let finish = |out: wasinn_wit_result, outputs| Ok(value(out, ShownTensors::new(outputs)?));
    let name = "[method]graph-execution-context.compute";
    C::define(calls, &mut instance, name, compute, finish)
}

#[allow(clippy::undocumented_unsafe_blocks)]
fn define_steps<T: 'static, C: Callers<T>>(mut instance: Instance<'_, T>, calls: Calls<C>) -> Result<()> {
    let table = calls.library.functions;
    type SetInput = (Resource<Context>, Text, Resource<Tensor>);
    let set_input = move |mut store: Store<'_, T>, (context, name, tensor): SetInput| {
        let guest = calls.guest(&mut store);
        let name = name.hold(&store)?;
        let mut out = wasinn_wit_result::default();
        let input = named_tensor(&name, &tensor);
        calls.check(unsafe { (table.context_set_input)(guest, context.rep(), &input, &mut out) })?;
        Ok((value(out, ()),))
    };
    instance.func_wrap("[method]graph-execution-context.set-input", set_input)?;
    let compute = move |_: &mut Store<'_, T>, (context,): (Resource<Context>,)| {
        let context = context.rep();
        Ok(move |guest, out: &mut wasinn_wit_result, _: &mut ()| unsafe {
            (table.context_compute_set)(guest, context, out)
        })
    };
    let name = "[method]graph-execution-context.compute";
    C::define(calls, &mut instance, name, compute, nothing)?;
    define_get_output(instance, calls, "[method]graph-execution-context.get-output")
}

/// A language model computes its prompt's description, so this may take as long as a compute.
#[allow(clippy::undocumented_unsafe_blocks)]
pub fn define_get_output<T: 'static, C: Callers<T>>(
    mut instance: Instance<'_, T>,
    calls: Calls<C>,
    name: &str,
) -> Result<()> {
    let table = calls.library.functions;
    let get_output = move |store: &mut Store<'_, T>, (context, name): (Resource<Context>, Text)| {
        let (context, name) = (context.rep(), name.hold(store)?);
        Ok(move |guest, out: &mut wasinn_wit_result, _: &mut ()| unsafe {
            (table.context_get_output)(guest, context, name.chars(), name.size, out)
        })
    };
    C::define(calls, &mut instance, name, get_output, resource::<Tensor>)
}

fn named_tensor(name: &HeldText, tensor: &Resource<Tensor>) -> wasinn_wit_named_tensor {
    wasinn_wit_named_tensor { name: name.chars(), name_size: name.size, tensor: tensor.rep() }
}
