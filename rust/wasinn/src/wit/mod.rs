//! wasi:nn for components, in their [`Linker`](wasmtime::component::Linker): the versions 0.2.0-rc-2024-10-28, -08-19 and -06-25, and `wasinn:ext`.
//!
//! From Wasmtime 48 on, engines with `concurrency_support` have 0.3.0-draft, too, whose functions are asynchronous: the
//! other tasks of a component run on during a load or a compute. A component that imports it needs `instantiate_async`.
//!
//! A guest's lists and strings are read where they are, and results are written from the framework's memory, as typed
//! functions of Wasmtime: nothing is copied twice.

mod blocking;
mod calls;
mod define;
#[cfg(any(feature = "wasmtime-48", feature = "wasmtime-49", feature = "wasmtime-50"))]
mod draft;
mod errors;
mod ext;
mod graph;
mod inference;
#[cfg(feature = "host")]
mod linker;
#[cfg(any(feature = "wasmtime-48", feature = "wasmtime-49", feature = "wasmtime-50"))]
mod stream;
#[cfg(any(feature = "wasmtime-48", feature = "wasmtime-49", feature = "wasmtime-50"))]
mod task;
mod tensor;
mod text;
mod types;
mod views;

#[cfg(feature = "host")]
pub use linker::{add_to_linker, add_to_linker_async, set_up};

/// For the library behind Wasmtime's C API, which links no libwasinn and finds guests by functions in C. Not for others:
/// it changes with any version.
#[doc(hidden)]
pub mod raw {
    pub use super::blocking::{Callers, Rests, Waits};
    pub use super::calls::{Calls, Find, FindAsync, Library};
    pub use super::define::define;
    pub use crate::begun::{Close, Wake};

    use wasmtime::StoreContextMut;

    /// Raises a store's limits. They protect hosts that copy arguments of guests; wasinn has its own.
    pub fn raise_limits<T: 'static>(mut store: StoreContextMut<'_, T>, call_bytes: usize, handles: usize) {
        store.set_hostcall_fuel(store.hostcall_fuel().max(call_bytes));
        let _ = handles; // 47 has no such limit
        #[cfg(any(feature = "wasmtime-48", feature = "wasmtime-49", feature = "wasmtime-50"))]
        store.set_max_component_handles(store.max_component_handles().max(handles));
    }
}
