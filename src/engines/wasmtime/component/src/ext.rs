//! wasinn:ext/inspect, of which guest/wit/deps/wasinn-ext tells.

use wasmtime::Result;
use wasmtime::component::Resource;

use crate::calls::Calls;
use crate::types::{Graph, Instance, Store};
use crate::views::{Shown, ShownText};

// SAFETY, for all of this file: arguments are valid for the call, and the table's functions write what they are asked for.
#[allow(clippy::undocumented_unsafe_blocks)]
pub fn define(mut instance: Instance<'_>, calls: Calls) -> Result<()> {
    let table = calls.functions;
    instance.func_wrap("last-error", move |mut store: Store<'_>, (): ()| {
        let mut text = Shown::<u8>::empty();
        calls.check(unsafe { (table.last_error)(calls.process(&mut store), text.out()) })?;
        Ok((ShownText::new(text),))
    })?;
    instance.func_wrap("describe", move |mut store: Store<'_>, (graph,): (Resource<Graph>,)| {
        let mut text = Shown::<u8>::empty();
        calls.check(unsafe { (table.describe)(calls.process(&mut store), graph.rep(), text.out()) })?;
        Ok((ShownText::new(text),))
    })
}
