//! The C API's stores and linkers.

use wasmtime_c_api::WasmtimeStoreData;

pub type Store<'a> = wasmtime::StoreContextMut<'a, WasmtimeStoreData>;
pub type Instance<'a> = wasmtime::component::LinkerInstance<'a, WasmtimeStoreData>;
pub type Linker = wasmtime::component::Linker<WasmtimeStoreData>;
