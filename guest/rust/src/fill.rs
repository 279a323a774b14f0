//! Buffers for functions like get_output, which fill one.

use alloc::string::String;
use alloc::vec::Vec;

use crate::error::{check, Error, Result};
use crate::tensor::{length, Element};

/// Calls `call` with the slice, and returns how many elements it wrote. `call` gets the buffer, its size in bytes, and a place
/// for the written or needed size. It must not write past that size.
pub(crate) fn fill_slice<T: Element>(out: &mut [T], call: impl FnOnce(*mut u8, u32, *mut u32) -> u32) -> Result<usize> {
    let room = size_of_val(out);
    let mut written = 0;
    let code = call(out.as_mut_ptr().cast(), length(room), &mut written);
    let bytes = written as usize;
    match check(code) {
        // Not every host reports the size.
        Err(Error::TooLarge { .. }) => Err(Error::TooLarge { needed: Some(bytes).filter(|&bytes| bytes > room) }),
        Err(error) => Err(error),
        // Not whole elements: the output is of another type than T.
        Ok(()) if bytes > room || bytes % size_of::<T>() != 0 => Err(Error::InvalidArgument),
        Ok(()) => Ok(bytes / size_of::<T>()),
    }
}

/// Returns all elements that `call` writes. It asks for their size first.
pub(crate) fn fill_vec<T: Element>(call: impl Fn(*mut u8, u32, *mut u32) -> u32) -> Result<Vec<T>> {
    let mut out = Vec::new();
    loop {
        match fill_slice(&mut out, &call) {
            Ok(count) => {
                out.truncate(count);
                return Ok(out);
            }
            Err(error @ Error::TooLarge { needed: Some(bytes) }) => {
                let count = bytes.div_ceil(size_of::<T>());
                out.try_reserve_exact(count - out.len()).map_err(|_| error)?;
                out.resize(count, T::default());
            }
            Err(error) => return Err(error),
        }
    }
}

pub(crate) fn fill_text(call: impl Fn(*mut u8, u32, *mut u32) -> u32) -> Result<String> {
    let bytes = fill_vec(call)?;
    // UTF-8, unless a model's names are not.
    Ok(String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
}
