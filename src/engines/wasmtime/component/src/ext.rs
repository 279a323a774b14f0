//! wasinn:ext, of which guest/wit/deps/wasinn-ext tells.

// SAFETY, for all of this file: arguments are valid for the call, and the table's functions write what they are asked for.
#![allow(clippy::undocumented_unsafe_blocks)]

use wasmtime::component::{Resource, WasmList};
use wasmtime::{AsContextMut, Result};

use crate::calls::Calls;
use crate::graph::{MOST_LISTED, with_builders};
use crate::inference::named_tensor;
use crate::text::{Text, to_strs};
use crate::types::{Context, ExecutionTarget, Graph, Instance, Store, Tensor};
use crate::views::{Shown, ShownText};
use crate::wit::{Bytes, WitResult};

pub fn define_inspect(mut instance: Instance<'_>, calls: Calls) -> Result<()> {
    let table = calls.functions;
    instance.func_wrap("last-error", move |mut store: Store<'_>, (): ()| {
        let mut text = Shown::<u8>::empty();
        calls.check(unsafe { (table.last_error)(calls.guest(&mut store), text.out()) })?;
        Ok((ShownText::new(text),))
    })?;
    instance.func_wrap("describe", move |mut store: Store<'_>, (graph,): (Resource<Graph>,)| {
        let mut text = Shown::<u8>::empty();
        calls.check(unsafe { (table.describe)(calls.guest(&mut store), graph.rep(), text.out()) })?;
        Ok((ShownText::new(text),))
    })
}

pub fn define_generate(mut instance: Instance<'_>, calls: Calls) -> Result<()> {
    let table = calls.functions;
    type Start = (Resource<Context>, WasmList<(Text, Resource<Tensor>)>);
    instance.func_wrap("start", move |mut store: Store<'_>, (context, inputs): Start| {
        let guest = calls.guest(&mut store);
        let inputs = inputs.iter(store.as_context_mut())?.collect::<Result<Vec<_>>>()?;
        let names = to_strs(inputs.iter().map(|(name, _)| name), &store)?;
        let named: Vec<_> = names.iter().zip(&inputs).map(|(name, (_, tensor))| named_tensor(name, tensor)).collect();
        let mut out = WitResult::default();
        calls.check(unsafe { (table.context_start)(guest, context.rep(), named.as_ptr(), named.len(), &mut out) })?;
        Ok((out.value(()),))
    })?;
    instance.func_wrap("next", move |mut store: Store<'_>, (context,): (Resource<Context>,)| {
        let mut out = WitResult::default();
        let mut has_piece = 0;
        let mut piece = Shown::<u8>::empty();
        let guest = calls.guest(&mut store);
        calls.check(unsafe { (table.context_next)(guest, context.rep(), &mut out, &mut has_piece, piece.out()) })?;
        Ok((out.value((has_piece != 0).then_some(piece)),))
    })?;
    instance.func_wrap("finish", move |mut store: Store<'_>, (context,): (Resource<Context>,)| {
        let mut out = WitResult::default();
        calls.check(unsafe { (table.context_finish)(calls.guest(&mut store), context.rep(), &mut out) })?;
        Ok((out.value(()),))
    })?;
    instance.func_wrap("output", move |mut store: Store<'_>, (context, name): (Resource<Context>, Text)| {
        let guest = calls.guest(&mut store);
        let name = name.to_str(&store)?;
        let mut out = WitResult::default();
        calls.check(unsafe {
            (table.context_get_output)(guest, context.rep(), name.as_ptr().cast(), name.len(), &mut out)
        })?;
        Ok((out.resource::<Tensor>(),))
    })
}

pub fn define_configure(mut instance: Instance<'_>, calls: Calls) -> Result<()> {
    let table = calls.functions;
    type LoadAs = (WasmList<WasmList<u8>>, Text, ExecutionTarget);
    instance.func_wrap("load-as", move |mut store: Store<'_>, (builders, format, target): LoadAs| {
        let guest = calls.guest(&mut store);
        let count = builders.len();
        let mut out = WitResult::default();
        let status = with_builders(&mut store, &builders, |store, bytes| {
            let format = format.to_str(store)?;
            let (text, size) = (format.as_ptr().cast(), format.len());
            Ok(unsafe { (table.graph_load_as)(guest, bytes, count, text, size, target as u32, &mut out) })
        })?;
        calls.check(status)?;
        Ok((out.resource::<Graph>(),))
    })?;
    instance.func_wrap("load-by-name", move |mut store: Store<'_>, (name, config): (Text, Text)| {
        let guest = calls.guest(&mut store);
        let (name, config) = (name.to_str(&store)?, config.to_str(&store)?);
        let (name, config) = (name.as_bytes(), config.as_bytes());
        let mut out = WitResult::default();
        calls.check(unsafe {
            (table.graph_load_by_name_with_config)(
                guest,
                name.as_ptr().cast(),
                name.len(),
                config.as_ptr().cast(),
                config.len(),
                &mut out,
            )
        })?;
        Ok((out.resource::<Graph>(),))
    })?;
    type Select = (Resource<Context>, WasmList<Text>);
    instance.func_wrap("select-outputs", move |mut store: Store<'_>, (context, names): Select| {
        let guest = calls.guest(&mut store);
        let count = names.len();
        let mut out = WitResult::default();
        let mut select =
            |bytes| unsafe { (table.context_select_outputs)(guest, context.rep(), bytes, count, &mut out) };
        let status = if count > MOST_LISTED {
            select(std::ptr::null())
        } else {
            let names = names.iter(store.as_context_mut())?.collect::<Result<Vec<_>>>()?;
            let texts = to_strs(names.iter(), &store)?;
            let bytes: Vec<_> = texts.iter().map(|text| Bytes { data: text.as_ptr(), size: text.len() }).collect();
            select(bytes.as_ptr())
        };
        calls.check(status)?;
        Ok((out.value(()),))
    })
}
