//! The log of a host.

use std::ffi::{CStr, c_char, c_void};
use std::panic::{self, AssertUnwindSafe};

use wasinn_sys as sys;

use super::error::Code;

pub(crate) type LogFunction = Box<dyn Fn(&Record<'_>) + Send + Sync>;

/// How much a line of the log matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Level {
    /// Something failed that the host needs.
    Error,
    /// An error of a guest, or something to look at.
    Warning,
    /// What the host does.
    Info,
    /// More of that.
    Debug,
}

/// One line of the log.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Record<'a> {
    /// How much it matters.
    pub level: Level,
    /// Of the error that the line reports; [`Code::Ok`]: no error, or one without a code.
    pub code: Code,
    /// The guest's number in its host, from 1; 0: the host's own line.
    pub guest: u64,
    /// The name in [`GuestOptions`](crate::GuestOptions); empty: none.
    pub guest_name: &'a str,
    /// The line, without control characters.
    pub message: &'a str,
}

/// # Safety
/// `user` is a `LogFunction`, and the record is valid.
pub(crate) unsafe extern "C" fn call(user: *mut c_void, record: *const sys::wasinn_log_record) {
    // SAFETY: the host guarantees it.
    let (log, record) = unsafe { (&*user.cast::<LogFunction>(), &*record) };
    // SAFETY: as above.
    let (guest_name, message) = unsafe { (text(record.guest_name), text(record.message)) };
    let level = match record.level {
        sys::WASINN_LOG_ERROR => Level::Error,
        sys::WASINN_LOG_WARNING => Level::Warning,
        sys::WASINN_LOG_INFO => Level::Info,
        _ => Level::Debug,
    };
    let record = Record { level, code: Code::from_number(record.code), guest: record.guest, guest_name, message };
    // A panic in a function for C aborts the process, and `eprintln!` panics if nobody reads stderr.
    let _ = panic::catch_unwind(AssertUnwindSafe(|| log(&record)));
}

unsafe fn text<'a>(text: *const c_char) -> &'a str {
    // SAFETY: the caller guarantees that it ends in a NUL, and lives as long as the result is used.
    unsafe { CStr::from_ptr(text) }.to_str().unwrap_or("(not UTF-8)")
}
