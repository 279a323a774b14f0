//! wasi:nn in the linker of a program in Rust.

use wasinn_sys::{
    wasinn_guest, wasinn_guest_close, wasinn_status_free, wasinn_status_message, wasinn_wit, wasinn_wit_functions,
};
use wasmtime::component::Linker;
use wasmtime::{AsContextMut, Result, StoreContextMut, bail};

use crate::host::Guest;
use crate::notify::Notify;
use crate::wit::blocking::{Rests, Waits};
use crate::wit::calls::{Calls, Find, FindAsync, Library};
use crate::wit::define::define;
use crate::wit::raw::raise_limits;

/// WASI has handles, too, and a borrowed one counts twice.
const OTHER_HANDLES: usize = 10_000;

/// Puts all of wasi:nn into `linker`, once for any number of stores and guests. `guest` finds the guest in a store's data.
///
/// A call of a component runs on its thread, and returns when it is done. For components that run in `call_async` use
/// [`add_to_linker_async`].
///
/// Fails if the linker has a function of that name already, or if the loaded libwasinn is older than this crate.
pub fn add_to_linker<T: 'static>(
    linker: &mut Linker<T>,
    guest: impl Fn(&mut T) -> &mut Guest + Copy + Send + Sync + 'static,
) -> Result<()> {
    define(linker, Calls { library: library()?, callers: Waits(OfData(guest)) })
}

/// The same, for components that run in functions such as `call_async`: a call that may block runs on a thread of the
/// host, and the component's future is pending meanwhile. The setting `call_threads` is the number of these threads.
///
/// Dropping a future during such a call closes the guest, and waits until the call is over. So a guest must be part of its
/// store's data: it is closed before the store's memory goes. Do not leak such a future (`std::mem::forget`) and then take
/// the guest out of its store: nobody would wait for the call.
pub fn add_to_linker_async<T: Send + 'static>(
    linker: &mut Linker<T>,
    guest: impl Fn(&mut T) -> &mut Guest + Copy + Send + Sync + 'static,
) -> Result<()> {
    define(linker, Calls { library: library()?, callers: Rests { find: OfData(guest), close: wasinn_guest_close } })
}

/// Call this once for each store of a component. Wasmtime has its own guards against large calls (128 MiB, 100,000
/// handles). This raises them if the guest's limits allow more; the guest's limits hold in any case.
pub fn set_up<T: 'static>(mut store: impl AsContextMut<Data = T>, guest: impl Fn(&mut T) -> &mut Guest) {
    let mut store: StoreContextMut<'_, T> = store.as_context_mut();
    let (call_bytes, handles) = guest(store.data_mut()).call_limits();
    raise_limits(store, call_bytes, handles + OTHER_HANDLES);
}

/// Finds the guest in a store's data.
#[derive(Clone, Copy)]
struct OfData<F>(F);

// SAFETY: a guest in a store's data is closed before the store's memory goes.
unsafe impl<T, F> Find<T> for OfData<F>
where
    T: 'static,
    F: Fn(&mut T) -> &mut Guest + Copy + Send + Sync + 'static,
{
    fn guest(&self, mut store: StoreContextMut<'_, T>) -> *mut wasinn_guest {
        (self.0)(store.data_mut()).as_ptr()
    }
}

// SAFETY: as above.
unsafe impl<T, F> FindAsync<T> for OfData<F>
where
    T: 'static,
    F: Fn(&mut T) -> &mut Guest + Copy + Send + Sync + 'static,
{
    type Wake = Notify;

    fn caller(&self, store: StoreContextMut<'_, T>) -> (*mut wasinn_guest, Notify) {
        (self.guest(store), Notify::default())
    }
}

fn library() -> Result<Library> {
    // SAFETY: it may be called at any time.
    let functions = unsafe { wasinn_wit() };
    // SAFETY: the table begins with its size, and is valid for the life of the process.
    if (unsafe { (&raw const (*functions).struct_size).read() } as usize) < size_of::<wasinn_wit_functions>() {
        bail!("this libwasinn is older than the crate wasinn");
    }
    Ok(Library {
        // SAFETY: as above.
        functions: unsafe { &*functions },
        status_message: wasinn_status_message,
        status_free: wasinn_status_free,
    })
}
