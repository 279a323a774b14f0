//! What a host function needs to call the table.

use std::ffi::{CStr, c_char, c_void};
use wasmtime::component::Resource;
use wasmtime::{AsContextMut, Error, Result};

use crate::types::{Fallible, Store};
use crate::wit::{Functions, Guest, Status, WitResult};

pub type GuestOf = unsafe extern "C" fn(Store<'_>, *mut c_void) -> *mut Guest;

/// One for each linker that has wasi:nn; every host function has a copy.
#[derive(Clone, Copy)]
pub struct Calls {
    pub functions: &'static Functions,
    pub guest_of: GuestOf,
    pub user: *mut c_void,
    pub status_message: unsafe extern "C" fn(*const Status) -> *const c_char,
    pub status_free: unsafe extern "C" fn(*mut Status),
}

// SAFETY: a linker serves any thread, and so does all of this; the embedder promises it for guest_of and user.
unsafe impl Send for Calls {}
// SAFETY: as above.
unsafe impl Sync for Calls {}

impl Calls {
    /// The guest that is calling.
    pub fn guest(&self, store: &mut Store<'_>) -> *mut Guest {
        // SAFETY: as the embedder promised when it linked.
        unsafe { (self.guest_of)(store.as_context_mut(), self.user) }
    }

    /// Anything but null traps the guest, with the status's message.
    pub fn check(&self, status: *mut Status) -> Result<()> {
        if status.is_null() {
            return Ok(());
        }
        // SAFETY: a status has a message, which lives until the status is freed; it is freed once.
        let message = unsafe { CStr::from_ptr((self.status_message)(status)).to_string_lossy().into_owned() };
        // SAFETY: as above.
        unsafe { (self.status_free)(status) };
        Err(Error::msg(message))
    }
}

impl WitResult {
    /// What WIT calls result<T, error>, T being a resource.
    pub fn resource<T>(self) -> Fallible<Resource<T>> {
        self.value(()).map(|()| Resource::new_own(self.rep))
    }

    /// The same where success gives something else.
    pub fn value<T>(&self, value: T) -> Fallible<T> {
        if self.is_error != 0 { Err(Resource::new_own(self.rep)) } else { Ok(value) }
    }
}
