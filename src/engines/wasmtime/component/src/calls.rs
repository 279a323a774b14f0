//! The data that a host function needs to call the table of functions.

use std::ffi::{CStr, c_char, c_void};
use wasmtime::component::Resource;
use wasmtime::{AsContextMut, Error, Result};

use crate::types::{Fallible, Store};
use crate::wit::{Functions, Guest, Outcome, Status, WitResult};

pub type GuestOf = unsafe extern "C" fn(Store<'_>, *mut c_void) -> *mut Guest;
pub type CallerOf = unsafe extern "C" fn(Store<'_>, *mut c_void) -> AsyncCaller;

/// `wasinn_wasmtime_async_caller` of wasinn/wasmtime.h.
#[repr(C)]
pub struct AsyncCaller {
    pub guest: *mut Guest,
    _memory: *const c_void,
    pub wake: Option<unsafe extern "C" fn(*mut c_void)>,
    pub user: *mut c_void,
}

/// How a guest waits while a function blocks.
#[derive(Clone, Copy)]
pub enum Callers {
    /// Its thread waits.
    Wait(GuestOf),
    /// The function runs on a thread of the host, and the guest's future is pending.
    Rest { caller_of: CallerOf, close: unsafe extern "C" fn(*mut Guest) },
}

/// One for each linker with wasi:nn; every host function has a copy.
#[derive(Clone, Copy)]
pub struct Calls {
    pub functions: &'static Functions,
    pub callers: Callers,
    pub user: *mut c_void,
    pub status_message: unsafe extern "C" fn(*const Status) -> *const c_char,
    pub status_free: unsafe extern "C" fn(*mut Status),
}

// SAFETY: any thread may use a linker and these members; the embedder guarantees it for callers and user.
unsafe impl Send for Calls {}
// SAFETY: as above.
unsafe impl Sync for Calls {}

impl Calls {
    /// The guest that is calling.
    pub fn guest(&self, store: &mut Store<'_>) -> *mut Guest {
        let store = store.as_context_mut();
        // SAFETY: the embedder guaranteed it when it linked.
        unsafe {
            match self.callers {
                Callers::Wait(guest_of) => guest_of(store, self.user),
                Callers::Rest { caller_of, .. } => caller_of(store, self.user).guest,
            }
        }
    }

    /// Any status but null traps the guest, with the status's message.
    pub fn check(&self, status: Outcome) -> Result<()> {
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

impl WitResult {
    /// WIT's result<T, error> for a resource T.
    pub fn resource<T>(self, _: ()) -> Result<Fallible<Resource<T>>> {
        Ok(self.value(()).map(|()| Resource::new_own(self.rep)))
    }

    /// The same, for functions without a value.
    pub fn nothing(self, _: ()) -> Result<Fallible<()>> {
        Ok(self.value(()))
    }

    /// The same, for other values.
    pub fn value<T>(&self, value: T) -> Fallible<T> {
        if self.is_error != 0 { Err(Resource::new_own(self.rep)) } else { Ok(value) }
    }
}
