//! wasi:nn/graph

use wasmtime::component::{Resource, WasmList};
use wasmtime::{AsContextMut, Result};

use crate::blocking;
use crate::calls::Calls;
use crate::text::Text;
use crate::types::{Context, ExecutionTarget, Graph, GraphEncoding, Instance, Store};
use crate::wit::{Bytes, WitResult};

/// A builder or a name may be empty, and then takes more memory here than in the guest. Of longer lists the table gets
/// only the length. (Lists of resources need no such limit: no handle can be passed twice.)
pub const MOST_LISTED: usize = 4096;

/// The builders of a model, in the guest's memory.
pub struct Builders {
    pub count: usize,
    bytes: Option<Vec<Bytes>>,
}

impl Builders {
    pub fn hold(store: &mut Store<'_>, builders: &WasmList<WasmList<u8>>) -> Result<Self> {
        let count = builders.len();
        if count > MOST_LISTED {
            return Ok(Builders { count, bytes: None });
        }
        let lists = builders.iter(store.as_context_mut())?.collect::<Result<Vec<_>>>()?;
        let bytes = lists.iter().map(|list| list.as_le_slice(&*store));
        let bytes = bytes.map(|part| Bytes { data: part.as_ptr(), size: part.len() }).collect();
        Ok(Builders { count, bytes: Some(bytes) })
    }

    /// Null if they are too many.
    pub fn bytes(&self) -> *const Bytes {
        self.bytes.as_ref().map_or(std::ptr::null(), |bytes| bytes.as_ptr())
    }
}

// SAFETY, for all of this file: arguments are valid for the call, and the table's functions write their outputs.
#[allow(clippy::undocumented_unsafe_blocks)]
pub fn define(mut instance: Instance<'_>, calls: Calls) -> Result<()> {
    let table = calls.functions;
    blocking::define_resource::<Graph>(&mut instance, calls, "graph", |table| table.graph_drop)?;
    type Load = (WasmList<WasmList<u8>>, GraphEncoding, ExecutionTarget);
    let load = move |store: &mut Store<'_>, (builders, encoding, target): Load| {
        let builders = Builders::hold(store, &builders)?;
        Ok(move |guest, out: &mut WitResult, _: &mut ()| unsafe {
            (table.graph_load)(guest, builders.bytes(), builders.count, encoding as u32, target as u32, out)
        })
    };
    blocking::define(&mut instance, calls, "load", load, WitResult::resource::<Graph>)?;
    let load_by_name = move |store: &mut Store<'_>, (name,): (Text,)| {
        let name = name.hold(store)?;
        Ok(move |guest, out: &mut WitResult, _: &mut ()| unsafe {
            (table.graph_load_by_name)(guest, name.chars(), name.size, out)
        })
    };
    let name = "load-by-name";
    blocking::define(&mut instance, calls, name, load_by_name, WitResult::resource::<Graph>)?;
    let init = move |_: &mut Store<'_>, (graph,): (Resource<Graph>,)| {
        let graph = graph.rep();
        Ok(move |guest, out: &mut WitResult, _: &mut ()| unsafe {
            (table.graph_init_execution_context)(guest, graph, out)
        })
    };
    let name = "[method]graph.init-execution-context";
    blocking::define(&mut instance, calls, name, init, WitResult::resource::<Context>)
}
