//! The data that a host function needs to call the table of functions.

use std::ffi::{CStr, c_char};

use wasinn_sys::{wasinn_guest, wasinn_status, wasinn_wit_functions, wasinn_wit_result};
use wasmtime::component::Resource;
use wasmtime::{AsContextMut, Error, Result};

use crate::begun::Wake;
use crate::wit::blocking::Callers;
use crate::wit::types::{Fallible, Store};

/// Finds the guest that makes a call.
///
/// # Safety
/// The guest is null, or valid until the store's memory goes.
pub unsafe trait Find<T: 'static>: Copy + Send + Sync + 'static {
    /// Called on the guest's thread, in each call.
    fn guest(&self, store: Store<'_, T>) -> *mut wasinn_guest;
}

/// The same for guests whose futures are pending while the host does their calls.
///
/// # Safety
/// As above.
pub unsafe trait FindAsync<T: 'static>: Find<T> {
    /// Notifies the thread that polls the guest's future.
    type Wake: Wake;
    /// As `guest`.
    fn caller(&self, store: Store<'_, T>) -> (*mut wasinn_guest, Self::Wake);
}

/// Functions of libwasinn, as pointers: this code links none.
#[derive(Clone, Copy)]
pub struct Library {
    /// `wasinn_wit()`
    pub functions: &'static wasinn_wit_functions,
    /// `wasinn_status_message`
    pub status_message: unsafe extern "C" fn(*const wasinn_status) -> *const c_char,
    /// `wasinn_status_free`
    pub status_free: unsafe extern "C" fn(*mut wasinn_status),
}

impl Library {
    /// Any status but null traps the guest, with the status's message.
    pub fn check(&self, status: *mut wasinn_status) -> Result<()> {
        if status.is_null() {
            return Ok(());
        }
        // SAFETY: a status has a message, which lives until the status is freed, once.
        let message = unsafe { CStr::from_ptr((self.status_message)(status)).to_string_lossy().into_owned() };
        // SAFETY: as above.
        unsafe { (self.status_free)(status) };
        Err(Error::msg(message))
    }
}

/// One for each linker with wasi:nn; every host function has a copy.
#[derive(Clone, Copy)]
pub struct Calls<C> {
    /// What is called.
    pub library: Library,
    /// [`Waits`](super::Waits) or [`Rests`](super::Rests).
    pub callers: C,
}

impl<C> Calls<C> {
    pub(super) fn guest<T: 'static>(&self, store: &mut Store<'_, T>) -> *mut wasinn_guest
    where
        C: Callers<T>,
    {
        self.callers.guest(store.as_context_mut())
    }

    pub(super) fn check(&self, status: *mut wasinn_status) -> Result<()> {
        self.library.check(status)
    }
}

/// WIT's result<T, error> for a resource T.
pub(super) fn resource<T: 'static>(out: wasinn_wit_result, _: ()) -> Result<Fallible<Resource<T>>> {
    Ok(value(out, ()).map(|()| Resource::new_own(out.rep)))
}

/// The same, for functions without a value.
pub(super) fn nothing(out: wasinn_wit_result, _: ()) -> Result<Fallible<()>> {
    Ok(value(out, ()))
}

/// The same, for other values.
pub(super) fn value<T>(out: wasinn_wit_result, value: T) -> Fallible<T> {
    if out.is_error != 0 { Err(Resource::new_own(out.rep)) } else { Ok(value) }
}
