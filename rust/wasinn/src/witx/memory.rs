//! The memory of a host function's caller.

use std::ptr;

use wasinn_sys::{WASINN_MEMORY_SHARED, wasinn_memory};
use wasmtime::{Caller, Extern};

/// Valid until the caller continues.
pub fn of<T: 'static>(caller: &mut Caller<'_, T>) -> wasinn_memory {
    let (flags, base, size) = match caller.get_export("memory") {
        Some(Extern::Memory(memory)) => (0, memory.data_ptr(&caller), memory.data_size(&caller)),
        Some(Extern::SharedMemory(memory)) => {
            (WASINN_MEMORY_SHARED, memory.data().as_ptr().cast_mut().cast(), memory.data_size())
        }
        _ => (0, ptr::null_mut(), 0),
    };
    wasinn_memory { struct_size: size_of::<wasinn_memory>() as u32, flags, base, size: size as u64 }
}
