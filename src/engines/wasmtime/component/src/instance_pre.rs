//! Features that the C API has only for modules: linking once for many stores, and a store's limits.

use wasinn::wit::raw::raise_limits;
use wasmtime::Result;
use wasmtime::component::{Component, Instance, InstancePre};
use wasmtime_c_api::{WasmtimeStoreData, wasmtime_component_linker_t, wasmtime_component_t, wasmtime_error_t};

use crate::link::to_c;
use crate::types::{Linker, Store};

/// `wasinn_wasmtime_component_pre` of wasinn/wasmtime.h.
pub struct Pre(InstancePre<WasmtimeStoreData>);

impl Pre {
    pub async fn instantiate_async(&self, store: Store<'_>) -> Result<Instance> {
        self.0.instantiate_async(store).await
    }
}

/// # Safety
/// `linker` and `component` come from this library's C API.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wasinn_component_pre_new(
    linker: *const wasmtime_component_linker_t,
    component: *const wasmtime_component_t,
    out: &mut *mut Pre,
) -> Option<Box<wasmtime_error_t>> {
    // SAFETY: the C API's types are transparent wrappers.
    let (linker, component) = unsafe { (&*linker.cast::<Linker>(), &*component.cast::<Component>()) };
    to_c(linker.instantiate_pre(component).map(|pre| *out = Box::into_raw(Box::new(Pre(pre)))))
}

#[unsafe(no_mangle)]
pub extern "C" fn wasinn_component_pre_instantiate(
    pre: &Pre,
    store: Store<'_>,
    out: &mut Instance,
) -> Option<Box<wasmtime_error_t>> {
    to_c(pre.0.instantiate(store).map(|instance| *out = instance))
}

#[unsafe(no_mangle)]
pub extern "C" fn wasinn_component_pre_delete(_pre: Option<Box<Pre>>) {}

#[unsafe(no_mangle)]
pub extern "C" fn wasinn_component_raise_limits(store: Store<'_>, call_bytes: usize, handles: usize) {
    raise_limits(store, call_bytes, handles);
}
