use core::fmt;

/// Why a call failed: the standard's numbers, and those of hosts with models that generate text.
///
/// On wasinn, [`last_error`](crate::last_error) has the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// A handle or index is not valid. Or a tensor's type, dims or size do not fit the model. Or an input was never set. Or there
    /// was no compute before get_output, or the output has another type.
    InvalidArgument,
    /// The encoding is unknown, or the bytes have another format.
    InvalidEncoding,
    /// The module does not export its memory as "memory".
    MissingMemory,
    /// Another thread is using the context.
    Busy,
    /// The framework failed, or the host's deadline passed. Or the OS process with the guest's own model ended: then the guest
    /// may load it again.
    RuntimeError,
    /// The framework, target or element type is not available here, or the host's policy forbids it.
    UnsupportedOperation,
    /// A quota of the host is exceeded. Or a buffer is too small: it must have `needed` bytes.
    TooLarge { needed: Option<usize> },
    /// The host has no model of that name.
    NotFound,
    /// The answer is complete.
    EndOfSequence,
    /// The model's context window is full.
    ContextFull,
    /// The prompt does not fit into the context window.
    PromptTooLong,
    /// The model's file is missing.
    ModelNotFound,
    /// Any other number.
    Other(u32),
}

pub type Result<T, E = Error> = core::result::Result<T, E>;

impl Error {
    /// The host's number.
    pub fn code(self) -> u32 {
        match self {
            Error::InvalidArgument => 1,
            Error::InvalidEncoding => 2,
            Error::MissingMemory => 3,
            Error::Busy => 4,
            Error::RuntimeError => 5,
            Error::UnsupportedOperation => 6,
            Error::TooLarge { .. } => 7,
            Error::NotFound => 8,
            Error::EndOfSequence => 100,
            Error::ContextFull => 101,
            Error::PromptTooLong => 102,
            Error::ModelNotFound => 103,
            Error::Other(code) => code,
        }
    }

    /// The standard's name.
    pub fn name(self) -> &'static str {
        match self {
            Error::InvalidArgument => "invalid_argument",
            Error::InvalidEncoding => "invalid_encoding",
            Error::MissingMemory => "missing_memory",
            Error::Busy => "busy",
            Error::RuntimeError => "runtime_error",
            Error::UnsupportedOperation => "unsupported_operation",
            Error::TooLarge { .. } => "too_large",
            Error::NotFound => "not_found",
            Error::EndOfSequence => "end_of_sequence",
            Error::ContextFull => "context_full",
            Error::PromptTooLong => "prompt_too_long",
            Error::ModelNotFound => "model_not_found",
            Error::Other(_) => "unknown error",
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.name(), self.code())?;
        match self {
            Error::TooLarge { needed: Some(bytes) } => write!(f, ": {bytes} bytes are needed"),
            _ => Ok(()),
        }
    }
}

impl core::error::Error for Error {}

/// The result of a function of the host.
pub(crate) fn check(code: u32) -> Result<()> {
    Err(match code {
        0 => return Ok(()),
        1 => Error::InvalidArgument,
        2 => Error::InvalidEncoding,
        3 => Error::MissingMemory,
        4 => Error::Busy,
        5 => Error::RuntimeError,
        6 => Error::UnsupportedOperation,
        7 => Error::TooLarge { needed: None },
        8 => Error::NotFound,
        100 => Error::EndOfSequence,
        101 => Error::ContextFull,
        102 => Error::PromptTooLong,
        103 => Error::ModelNotFound,
        other => Error::Other(other),
    })
}
