//! wasinn:ext, documented in guest/wit/deps/wasinn-ext.

// SAFETY, for all of this file: arguments are valid for the call, and the table's functions write their outputs.
#![allow(clippy::undocumented_unsafe_blocks)]

use wasinn_sys::{wasinn_bytes, wasinn_wit_result};
use wasmtime::component::{Resource, WasmList};
use wasmtime::{AsContextMut, Result};

use crate::wit::blocking::Callers;
use crate::wit::calls::{Calls, nothing, resource, value};
use crate::wit::graph::{Builders, MOST_LISTED};
use crate::wit::inference::{HeldInputs, Inputs, define_get_output};
use crate::wit::text::{Holder, Text};
use crate::wit::types::{Context, ExecutionTarget, Graph, Instance, Store};
use crate::wit::views::{Shown, ShownText};

pub fn define_inspect<T: 'static, C: Callers<T>>(mut instance: Instance<'_, T>, calls: Calls<C>) -> Result<()> {
    let table = calls.library.functions;
    instance.func_wrap("last-error", move |mut store: Store<'_, T>, (): ()| {
        let mut text = Shown::<u8>::empty();
        calls.check(unsafe { (table.last_error)(calls.guest(&mut store), text.out()) })?;
        Ok((ShownText::new(text),))
    })?;
    instance.func_wrap("describe", move |mut store: Store<'_, T>, (graph,): (Resource<Graph>,)| {
        let mut text = Shown::<u8>::empty();
        calls.check(unsafe { (table.describe)(calls.guest(&mut store), graph.rep(), text.out()) })?;
        Ok((ShownText::new(text),))
    })
}

pub fn define_generate<T: 'static, C: Callers<T>>(mut instance: Instance<'_, T>, calls: Calls<C>) -> Result<()> {
    let table = calls.library.functions;
    let start = move |store: &mut Store<'_, T>, (context, inputs): (Resource<Context>, Inputs)| {
        let (context, inputs) = (context.rep(), HeldInputs::hold(store, &inputs)?);
        Ok(move |guest, out: &mut wasinn_wit_result, _: &mut ()| unsafe {
            let inputs = inputs.tensors();
            (table.context_start)(guest, context, inputs.as_ptr(), inputs.len(), out)
        })
    };
    C::define(calls, &mut instance, "start", start, nothing)?;
    /// The number of pieces (0 or 1), and the piece.
    type Piece = (u32, Shown<u8>);
    let next = move |_: &mut Store<'_, T>, (context,): (Resource<Context>,)| {
        let context = context.rep();
        Ok(move |guest, out: &mut wasinn_wit_result, (has_piece, piece): &mut Piece| unsafe {
            (table.context_next)(guest, context, out, has_piece, piece.out())
        })
    };
    let finish_next =
        |out: wasinn_wit_result, (has_piece, piece): Piece| Ok(value(out, (has_piece != 0).then_some(piece)));
    C::define(calls, &mut instance, "next", next, finish_next)?;
    let finish = move |_: &mut Store<'_, T>, (context,): (Resource<Context>,)| {
        let context = context.rep();
        Ok(move |guest, out: &mut wasinn_wit_result, _: &mut ()| unsafe { (table.context_finish)(guest, context, out) })
    };
    C::define(calls, &mut instance, "finish", finish, nothing)?;
    define_get_output(instance, calls, "output")
}

pub fn define_configure<T: 'static, C: Callers<T>>(mut instance: Instance<'_, T>, calls: Calls<C>) -> Result<()> {
    let table = calls.library.functions;
    type LoadAs = (WasmList<WasmList<u8>>, Text, ExecutionTarget);
    let load_as = move |store: &mut Store<'_, T>, (builders, format, target): LoadAs| {
        let (builders, format) = (Builders::hold(store, &builders)?, format.hold(store)?);
        Ok(move |guest, out: &mut wasinn_wit_result, _: &mut ()| unsafe {
            let (bytes, count) = (builders.bytes(), builders.count);
            (table.graph_load_as)(guest, bytes, count, format.chars(), format.size, target as u32, out)
        })
    };
    C::define(calls, &mut instance, "load-as", load_as, resource::<Graph>)?;
    let load_by_name = move |store: &mut Store<'_, T>, (name, config): (Text, Text)| {
        let (name, config) = (name.hold(store)?, config.hold(store)?);
        Ok(move |guest, out: &mut wasinn_wit_result, _: &mut ()| unsafe {
            let (text, size) = (name.chars(), name.size);
            (table.graph_load_by_name_with_config)(guest, text, size, config.chars(), config.size, out)
        })
    };
    let name = "load-by-name";
    C::define(calls, &mut instance, name, load_by_name, resource::<Graph>)?;
    type Select = (Resource<Context>, WasmList<Text>);
    instance.func_wrap("select-outputs", move |mut store: Store<'_, T>, (context, names): Select| {
        let guest = calls.guest(&mut store);
        let count = names.len();
        let mut out = wasinn_wit_result::default();
        let mut select =
            |bytes| unsafe { (table.context_select_outputs)(guest, context.rep(), bytes, count, &mut out) };
        let status = if count > MOST_LISTED {
            select(std::ptr::null())
        } else {
            let names = names.iter(store.as_context_mut())?.collect::<Result<Vec<_>>>()?;
            let mut holder = Holder::default();
            let texts = names.iter().map(|name| holder.hold(name, &store)).collect::<Result<Vec<_>>>()?;
            let bytes: Vec<_> = texts.iter().map(|text| wasinn_bytes { data: text.data, size: text.size }).collect();
            select(bytes.as_ptr())
        };
        calls.check(status)?;
        Ok((value(out, ()),))
    })
}
