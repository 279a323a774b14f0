//! Errors of libwasinn.

use std::fmt::{self, Display, Formatter};

use wasinn_sys as sys;

use super::text::to_string;

/// A result of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a function of libwasinn failed.
#[derive(Clone, Debug)]
pub struct Error {
    code: Code,
    message: String,
    backend: String,
}

impl Error {
    pub(crate) fn new(code: Code, message: String) -> Self {
        Error { code, message, backend: String::new() }
    }

    /// Its kind.
    pub fn code(&self) -> Code {
        self.code
    }

    /// A sentence. Names are quoted as they came.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The backend that reported the error; empty if none did.
    pub fn backend(&self) -> &str {
        &self.backend
    }
}

impl Display for Error {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

/// Null is success.
pub(crate) fn check(status: *mut sys::wasinn_status) -> Result<()> {
    if status.is_null() {
        return Ok(());
    }
    // SAFETY: the status is freed once; its strings are copied before.
    unsafe {
        let error = Error {
            code: Code::from_number(sys::wasinn_status_code(status)),
            message: to_string(sys::wasinn_status_message(status)),
            backend: to_string(sys::wasinn_status_backend(status)),
        };
        sys::wasinn_status_free(status);
        Err(error)
    }
}

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $number:ident,)*) => {
        /// Kinds of errors.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Code {
            $($(#[$doc])* $name,)*
        }

        impl Code {
            /// A number that this crate does not know is `Runtime`.
            pub(crate) fn from_number(number: u32) -> Self {
                match number {
                    $(sys::$number => Code::$name,)*
                    _ => Code::Runtime,
                }
            }
        }
    };
}

codes! {
    /// No error.
    Ok = WASINN_OK,
    /// An argument, a setting, a shape or a type that is none.
    InvalidArgument = WASINN_ERROR_INVALID_ARGUMENT,
    /// An unknown format of a model, or bytes of another one.
    InvalidEncoding = WASINN_ERROR_INVALID_ENCODING,
    /// The module exports no memory.
    MissingMemory = WASINN_ERROR_MISSING_MEMORY,
    /// Another thread uses the context.
    Busy = WASINN_ERROR_BUSY,
    /// A failure inside the framework.
    Runtime = WASINN_ERROR_RUNTIME,
    /// A backend, target, type or function that is not available.
    UnsupportedOperation = WASINN_ERROR_UNSUPPORTED_OPERATION,
    /// A limit was reached, or an output's buffer is too small.
    TooLarge = WASINN_ERROR_TOO_LARGE,
    /// An unknown name of a model.
    NotFound = WASINN_ERROR_NOT_FOUND,
    /// A deadline passed, or the guest was closed.
    Timeout = WASINN_ERROR_TIMEOUT,
    /// The policy refuses it.
    Security = WASINN_ERROR_SECURITY,
    /// A generated text is complete.
    EndOfSequence = WASINN_ERROR_END_OF_SEQUENCE,
    /// A generated text was cut: the context is full, or a deadline passed.
    ContextFull = WASINN_ERROR_CONTEXT_FULL,
    /// A prompt does not fit into the context.
    PromptTooLong = WASINN_ERROR_PROMPT_TOO_LONG,
    /// The name is registered, but its file is missing.
    ModelNotFound = WASINN_ERROR_MODEL_NOT_FOUND,
    /// A server, worker or device is not there now; trying again may help.
    Unavailable = WASINN_ERROR_UNAVAILABLE,
    /// A worker ended, and its models are lost; load the model again.
    Lost = WASINN_ERROR_LOST,
}
