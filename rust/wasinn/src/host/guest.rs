//! One program in the sandbox.

use std::fmt::{self, Debug, Formatter};
use std::ptr::{self, NonNull};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use wasinn_sys as sys;

use super::Host;
use super::error::{Result, check};
use super::limits::{Limits, Statistics};
use super::policy::Policy;
use super::text::c_string;

/// One guest program, with its handles, limits and policy. All instances in its store share them.
///
/// It belongs into its store's data, which Wasmtime drops before the store's memory. Dropping it ends the guest: it refuses
/// new calls, cancels running ones, and waits until no call is inside.
pub struct Guest {
    guest: NonNull<sys::wasinn_guest>,
    stopper: Stopper,
    _host: Host, // freed after the guest
}

// SAFETY: any thread may use a guest, several at once.
unsafe impl Send for Guest {}
// SAFETY: as above.
unsafe impl Sync for Guest {}

/// Stops a guest, from any thread. While a guest's program runs, its store is borrowed, and so is the guest in it.
#[derive(Clone)]
pub struct Stopper(Arc<Mutex<Option<Stoppable>>>); // None: the guest is gone

struct Stoppable(NonNull<sys::wasinn_guest>);

// SAFETY: any thread may stop a guest, which is not freed while the lock is held.
unsafe impl Send for Stoppable {}

impl Stopper {
    /// As [`Guest::stop`]. If the guest is gone, nothing happens.
    pub fn stop(&self) {
        if let Some(guest) = &*self.lock() {
            // SAFETY: it may be called at any time.
            unsafe { sys::wasinn_guest_stop(guest.0.as_ptr()) };
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Stoppable>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Debug for Stopper {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stopper").finish_non_exhaustive()
    }
}

/// A guest's name, and its own limits and policy.
#[derive(Clone, Debug, Default)]
pub struct GuestOptions {
    /// For the log. Empty: none.
    pub name: String,
    /// None: the host's.
    pub limits: Option<Limits>,
    /// None: the host's.
    pub policy: Option<Policy>,
}

impl Guest {
    /// A guest with the host's limits and policy.
    pub fn new(host: &Host) -> Result<Self> {
        Self::with_options(host, &GuestOptions::default())
    }

    /// A guest with a name, and limits or a policy of its own.
    pub fn with_options(host: &Host, options: &GuestOptions) -> Result<Self> {
        let name = c_string("the guest's name", options.name.as_str())?;
        let limits = options.limits.map(Limits::to_c);
        let make = |policy: *const sys::wasinn_policy| {
            let options = sys::wasinn_guest_options {
                struct_size: size_of::<sys::wasinn_guest_options>() as u32,
                name: name.as_ptr(),
                limits: limits.as_ref().map_or(ptr::null(), ptr::from_ref),
                policy,
                print: None,
                print_user: ptr::null_mut(),
            };
            let mut guest = ptr::null_mut();
            // SAFETY: the options are valid, and copied.
            check(unsafe { sys::wasinn_guest_new(host.as_ptr(), &options, &mut guest) })?;
            let guest = NonNull::new(guest).expect("a new guest is not null");
            Ok(Guest { guest, stopper: Stopper(Arc::new(Mutex::new(Some(Stoppable(guest))))), _host: host.clone() })
        };
        match &options.policy {
            None => make(ptr::null()),
            Some(policy) => policy.lend(|policy| make(policy)),
        }
    }

    /// Refuses new calls and cancels running ones. Does not wait. For other threads there is [`stopper`](Self::stopper).
    pub fn stop(&self) {
        self.stopper.stop();
    }

    /// Stops the guest later, from any thread.
    pub fn stopper(&self) -> Stopper {
        self.stopper.clone()
    }

    /// Ends the guest, as dropping it does. Frees its graphs and contexts.
    pub fn close(&mut self) {
        // SAFETY: it may be called more than once.
        unsafe { sys::wasinn_guest_close(self.guest.as_ptr()) };
    }

    /// What it holds, and what it has done.
    pub fn statistics(&self) -> Statistics {
        Statistics::read(|out| {
            // SAFETY: the struct is valid.
            unsafe { sys::wasinn_guest_statistics(self.guest.as_ptr(), out) }
        })
    }

    /// The most bytes that one call may carry, and the most handles that it may hold.
    #[cfg(feature = "_wasmtime")]
    pub(crate) fn call_limits(&self) -> (usize, usize) {
        let size = size_of::<sys::wasinn_wit_limits>() as u32;
        let mut limits = sys::wasinn_wit_limits { struct_size: size, max_call_bytes: 0, max_handles: 0 };
        // SAFETY: the struct is valid. The status is null: the size is set.
        unsafe { sys::wasinn_status_free(sys::wasinn_wit_guest_limits(self.guest.as_ptr(), &mut limits)) };
        (usize::try_from(limits.max_call_bytes).unwrap_or(usize::MAX), limits.max_handles as usize)
    }

    #[cfg(feature = "_wasmtime")]
    pub(crate) fn as_ptr(&mut self) -> *mut sys::wasinn_guest {
        self.guest.as_ptr()
    }
}

impl Debug for Guest {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("Guest").field("statistics", &self.statistics()).finish_non_exhaustive()
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        *self.stopper.lock() = None;
        // SAFETY: it is freed once; this closes it before.
        unsafe { sys::wasinn_guest_free(self.guest.as_ptr()) };
    }
}
