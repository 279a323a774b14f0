//! Strings for C, and from C.

use std::ffi::{CStr, CString, c_char};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::error::{Code, Error, Result};

/// A C string ends at its first NUL, so a string with a NUL inside is an error.
pub fn c_string(what: &str, text: impl Into<Vec<u8>>) -> Result<CString> {
    CString::new(text).map_err(|_| Error::new(Code::InvalidArgument, format!("{what} contains a NUL")))
}

pub fn c_path(what: &str, path: &Path) -> Result<CString> {
    c_string(what, path.as_os_str().as_bytes())
}

/// Pointers to strings, as C has lists of them. Valid as long as the strings.
pub fn pointers(texts: &[CString]) -> Vec<*const c_char> {
    texts.iter().map(|text| text.as_ptr()).collect()
}

/// # Safety
/// `text` is null or ends in a NUL.
pub unsafe fn to_string(text: *const c_char) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: the caller guarantees it.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}
