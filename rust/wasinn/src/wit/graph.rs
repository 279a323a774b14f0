//! wasi:nn/graph

use wasinn_sys::{wasinn_bytes, wasinn_wit_result};
use wasmtime::component::{Resource, ResourceType, WasmList};
use wasmtime::{AsContextMut, Result};

use crate::wit::blocking::Callers;
use crate::wit::calls::{Calls, resource};
use crate::wit::text::Text;
use crate::wit::types::{Context, ExecutionTarget, Graph, GraphEncoding, Instance, Store};

/// A builder or a name may be empty, and then takes more memory here than in the guest. Of longer lists the table gets
/// only the length. (Lists of resources need no such limit: no handle can be passed twice.)
pub const MOST_LISTED: usize = 4096;

/// The builders of a model, in the guest's memory.
pub struct Builders {
    pub count: usize,
    bytes: Option<Vec<wasinn_bytes>>,
}

impl Builders {
    pub fn hold<T: 'static>(store: &mut Store<'_, T>, builders: &WasmList<WasmList<u8>>) -> Result<Self> {
        let count = builders.len();
        if count > MOST_LISTED {
            return Ok(Builders { count, bytes: None });
        }
        let lists = builders.iter(store.as_context_mut())?.collect::<Result<Vec<_>>>()?;
        let bytes = lists.iter().map(|list| list.as_le_slice(&*store));
        let bytes = bytes.map(|part| wasinn_bytes { data: part.as_ptr(), size: part.len() }).collect();
        Ok(Builders { count, bytes: Some(bytes) })
    }

    /// Null if they are too many.
    pub fn bytes(&self) -> *const wasinn_bytes {
        self.bytes.as_ref().map_or(std::ptr::null(), |bytes| bytes.as_ptr())
    }
}

// SAFETY, for all of this file: arguments are valid for the call, and the table's functions write their outputs.
#[allow(clippy::undocumented_unsafe_blocks)]
pub fn define<T: 'static, C: Callers<T>>(mut instance: Instance<'_, T>, calls: Calls<C>) -> Result<()> {
    let table = calls.library.functions;
    define_graph(&mut instance, calls)?;
    type Load = (WasmList<WasmList<u8>>, GraphEncoding, ExecutionTarget);
    let load = move |store: &mut Store<'_, T>, (builders, encoding, target): Load| {
        let builders = Builders::hold(store, &builders)?;
        Ok(move |guest, out: &mut wasinn_wit_result, _: &mut ()| unsafe {
            (table.graph_load)(guest, builders.bytes(), builders.count, encoding as u32, target as u32, out)
        })
    };
    C::define(calls, &mut instance, "load", load, resource::<Graph>)?;
    let load_by_name = move |store: &mut Store<'_, T>, (name,): (Text,)| {
        let name = name.hold(store)?;
        Ok(move |guest, out: &mut wasinn_wit_result, _: &mut ()| unsafe {
            (table.graph_load_by_name)(guest, name.chars(), name.size, out)
        })
    };
    let name = "load-by-name";
    C::define(calls, &mut instance, name, load_by_name, resource::<Graph>)
}

#[allow(clippy::undocumented_unsafe_blocks)]
pub fn define_graph<T: 'static, C: Callers<T>>(instance: &mut Instance<'_, T>, calls: Calls<C>) -> Result<()> {
    let table = calls.library.functions;
    C::define_resource(calls, instance, "graph", ResourceType::host::<Graph>(), table.graph_drop)?;
    let init = move |_: &mut Store<'_, T>, (graph,): (Resource<Graph>,)| {
        let graph = graph.rep();
        Ok(move |guest, out: &mut wasinn_wit_result, _: &mut ()| unsafe {
            (table.graph_init_execution_context)(guest, graph, out)
        })
    };
    let name = "[method]graph.init-execution-context";
    C::define(calls, instance, name, init, resource::<Context>)
}
