//! wasi:nn@0.3.0-draft (guest/wit/nn-0.3): as 0.2.0-rc-2024-10-28, with loads, computes and generations during which the
//! other tasks of a component go on.

// SAFETY, for all of this file: arguments are valid for the call, and the table's functions write their outputs.
#![allow(clippy::undocumented_unsafe_blocks)]

use wasinn_sys::{
    wasinn_guest, wasinn_status, wasinn_wit_done, wasinn_wit_named_tensor, wasinn_wit_result, wasinn_wit_task,
};
use wasmtime::component::{ComponentNamedList, Lift, Lower, Resource, WasmList};
use wasmtime::{AsContextMut, Engine, Result};

use crate::wit::blocking::Callers;
use crate::wit::calls::{Calls, resource, value};
use crate::wit::graph::{Builders, define_graph};
use crate::wit::inference::{HeldInputs, Inputs, define_context};
use crate::wit::stream::define_stream;
use crate::wit::task::Task;
use crate::wit::text::Text;
use crate::wit::types::{Context, ExecutionTarget, Graph, GraphEncoding, Instance, Linker, Store};
use crate::wit::views::{Shown, ShownTensors};
use crate::wit::{errors, tensor};

/// Whether the engine has asynchronous functions, which only a refusal shows.
pub fn is_possible<T: 'static>(engine: &Engine) -> bool {
    let mut linker = Linker::<T>::new(engine);
    linker.root().func_wrap_concurrent("probe", |_, (): ()| Box::pin(async { Ok(()) })).is_ok()
}

pub fn define<T: 'static, C: Callers<T>>(linker: &mut Linker<T>, calls: Calls<C>) -> Result<()> {
    let name = |interface: &str| format!("wasi:nn/{interface}@0.3.0-draft");
    tensor::define(linker.instance(&name("tensor"))?, calls)?;
    let mut graph = linker.instance(&name("graph"))?;
    define_graph(&mut graph, calls)?;
    define_loads(&mut graph, calls)?;
    let mut inference = linker.instance(&name("inference"))?;
    define_context(&mut inference, calls)?;
    define_compute(&mut inference, calls)?;
    define_stream(&mut inference, calls)?;
    errors::define(linker.instance(&name("errors"))?, calls, false)
}

/// How a task begins: the guest, the report of its end, and where it goes.
type Begin = (*mut wasinn_guest, wasinn_wit_done, *mut *mut wasinn_wit_task);

/// Defines a function. `begin` reads the arguments before the guest goes on, and calls the table; `finish` makes the return
/// value from the results.
fn define_async<T, C, P, M, R>(
    calls: Calls<C>,
    instance: &mut Instance<'_, T>,
    name: &str,
    begin: impl Fn(&mut Store<'_, T>, P, Begin) -> Result<*mut wasinn_status> + Send + Sync + 'static,
    finish: impl Fn(wasinn_wit_result, Shown<M>) -> Result<R> + Copy + Send + Sync + 'static,
) -> Result<()>
where
    T: 'static,
    C: Callers<T>,
    P: ComponentNamedList + Lift + 'static,
    M: 'static,
    R: 'static,
    (R,): ComponentNamedList + Lower,
{
    instance.func_wrap_concurrent(name, move |accessor, params: P| {
        let task = accessor.with(|mut access| {
            let mut store = access.as_context_mut();
            let (guest, wake) = calls.callers.caller(store.as_context_mut());
            Task::begin(calls.library, guest, wake, |done, task| begin(&mut store, params, (guest, done, task)))
        });
        Box::pin(async move {
            let (out, values) = task?.end().await?;
            Ok((finish(out, values)?,))
        })
    })
}

fn define_loads<T: 'static, C: Callers<T>>(instance: &mut Instance<'_, T>, calls: Calls<C>) -> Result<()> {
    let table = calls.library.functions;
    let graph = |out: wasinn_wit_result, _: Shown<u8>| resource::<Graph>(out, ());
    type Load = (WasmList<WasmList<u8>>, GraphEncoding, ExecutionTarget);
    let load = move |store: &mut Store<'_, T>, (builders, encoding, target): Load, (guest, done, task): Begin| {
        let builders = Builders::hold(store, &builders)?;
        let (bytes, count) = (builders.bytes(), builders.count);
        Ok(unsafe { (table.task_load)(guest, bytes, count, encoding as u32, target as u32, done, task) })
    };
    define_async(calls, instance, "load", load, graph)?;
    let load_by_name = move |store: &mut Store<'_, T>, (name,): (Text,), (guest, done, task): Begin| {
        let name = name.hold(store)?;
        Ok(unsafe { (table.task_load_by_name)(guest, name.chars(), name.size, done, task) })
    };
    define_async(calls, instance, "load-by-name", load_by_name, graph)
}

fn define_compute<T: 'static, C: Callers<T>>(instance: &mut Instance<'_, T>, calls: Calls<C>) -> Result<()> {
    let table = calls.library.functions;
    type Compute = (Resource<Context>, Inputs);
    let compute = move |store: &mut Store<'_, T>, (context, inputs): Compute, (guest, done, task): Begin| {
        let held = HeldInputs::hold(store, &inputs)?;
        let inputs = held.tensors();
        let (first, count) = (inputs.as_ptr(), inputs.len());
        Ok(unsafe { (table.task_compute)(guest, context.rep(), first, count, C::MAY_STAY.into(), done, task) })
    };
    let outputs =
        |out: wasinn_wit_result, outputs: Shown<wasinn_wit_named_tensor>| Ok(value(out, ShownTensors::new(outputs)?));
    define_async(calls, instance, "[method]graph-execution-context.compute", compute, outputs)
}
