//! wasi:nn/graph

use wasmtime::component::{Resource, ResourceType, WasmList};
use wasmtime::{AsContextMut, Result};

use crate::calls::Calls;
use crate::text::Text;
use crate::types::{Context, ExecutionTarget, Graph, GraphEncoding, Instance, Store};
use crate::wit::{Bytes, Outcome, WitResult};

/// A builder, or a name, may be of no bytes, and then takes more to hold here than in the guest's memory. Of more than these
/// the table hears the number alone. (Lists of resources need no such guard: no handle can be given twice.)
pub const MOST_LISTED: usize = 4096;

/// Calls `load` with the builders, where they lie, or with null where they are too many.
pub fn with_builders(
    store: &mut Store<'_>,
    builders: &WasmList<WasmList<u8>>,
    load: impl FnOnce(&Store<'_>, *const Bytes) -> Result<Outcome>,
) -> Result<Outcome> {
    if builders.len() > MOST_LISTED {
        return load(store, std::ptr::null());
    }
    let lists = builders.iter(store.as_context_mut())?.collect::<Result<Vec<_>>>()?;
    let bytes = lists.iter().map(|list| list.as_le_slice(&*store));
    let bytes: Vec<_> = bytes.map(|part| Bytes { data: part.as_ptr(), size: part.len() }).collect();
    load(store, bytes.as_ptr())
}

// SAFETY, for all of this file: arguments are valid for the call, and the table's functions write what they are asked for.
#[allow(clippy::undocumented_unsafe_blocks)]
pub fn define(mut instance: Instance<'_>, calls: Calls) -> Result<()> {
    let table = calls.functions;
    instance.resource("graph", ResourceType::host::<Graph>(), move |mut store, rep| {
        calls.check(unsafe { (table.graph_drop)(calls.guest(&mut store), rep) })
    })?;
    type Load = (WasmList<WasmList<u8>>, GraphEncoding, ExecutionTarget);
    instance.func_wrap("load", move |mut store: Store<'_>, (builders, encoding, target): Load| {
        let guest = calls.guest(&mut store);
        let count = builders.len();
        let mut out = WitResult::default();
        let status = with_builders(&mut store, &builders, |_, bytes| {
            Ok(unsafe { (table.graph_load)(guest, bytes, count, encoding as u32, target as u32, &mut out) })
        })?;
        calls.check(status)?;
        Ok((out.resource::<Graph>(),))
    })?;
    instance.func_wrap("load-by-name", move |mut store: Store<'_>, (name,): (Text,)| {
        let guest = calls.guest(&mut store);
        let name = name.to_str(&store)?;
        let mut out = WitResult::default();
        calls.check(unsafe { (table.graph_load_by_name)(guest, name.as_ptr().cast(), name.len(), &mut out) })?;
        Ok((out.resource::<Graph>(),))
    })?;
    type This = (Resource<Graph>,);
    instance.func_wrap("[method]graph.init-execution-context", move |mut store: Store<'_>, (graph,): This| {
        let guest = calls.guest(&mut store);
        let mut out = WitResult::default();
        calls.check(unsafe { (table.graph_init_execution_context)(guest, graph.rep(), &mut out) })?;
        Ok((out.resource::<Context>(),))
    })
}
