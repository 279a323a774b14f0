//! A call of a core module on a thread of the host.

use std::ffi::c_void;
use std::future::Future;
use std::ptr;

use wasinn_sys::{WASINN_MAX_PARAMS, wasinn_call, wasinn_guest_call_begin, wasinn_guest_close, wasinn_memory};

use crate::begun::{Begun, Call};
use crate::host::Guest;
use crate::notify::Notify;
use crate::witx::Function;

struct Work {
    call: wasinn_call,
    memory: wasinn_memory,
    params: [u32; WASINN_MAX_PARAMS],
    result: u32,
}

/// The future has the errno.
pub fn begin(
    function: Function,
    guest: &mut Guest,
    memory: wasinn_memory,
    params: &[u32],
) -> impl Future<Output = u32> + Send + use<> {
    let guest = guest.as_ptr();
    let mut work = Work {
        call: wasinn_call {
            struct_size: size_of::<wasinn_call>() as u32,
            refused: false,
            function: function.0,
            guest,
            memory: ptr::null(),
            args: ptr::null(),
            stride: size_of::<u32>(),
            stack_left: 0,
            ended: None,
            caller: ptr::null_mut(),
        },
        memory,
        params: [0; WASINN_MAX_PARAMS],
        result: 0,
    };
    work.params[..params.len()].copy_from_slice(params);
    let begin = |call: *mut Call<Work, Notify>| {
        // SAFETY: the call is not over.
        let work: *mut Work = unsafe { Call::<Work, Notify>::work(call.cast()) };
        // SAFETY: the call stays in place until `done` has returned, and so does the guest's memory: the guest waits.
        unsafe {
            (*work).call.memory = &raw const (*work).memory;
            (*work).call.args = (&raw const (*work).params).cast();
            wasinn_guest_call_begin(&raw mut (*work).call, Some(done), call.cast());
        }
        true
    };
    // SAFETY: `done` is called once, before a closing of the guest returns.
    let begun = unsafe { Begun::new(work, Notify::default(), guest, wasinn_guest_close, begin) };
    async move { begun.await.result }
}

/// Called on any thread.
unsafe extern "C" fn done(call: *mut c_void, result: u32) {
    // SAFETY: the call has begun, and nothing else uses it.
    unsafe {
        Call::<Work, Notify>::work(call).result = result;
        Call::<Work, Notify>::end(call);
    }
}
