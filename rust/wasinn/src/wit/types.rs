//! The types of wasi:nn's WIT other than lists and strings.

use wasmtime::component::{ComponentType, Lift, Lower, Resource};
use wasmtime::{Result, format_err};

pub use wasmtime::StoreContextMut as Store;
pub use wasmtime::component::{Linker, LinkerInstance as Instance};

// The types of resources. They have no values.
pub enum Tensor {}
pub enum Graph {}
pub enum Context {}
pub enum Error {}

/// result<T, error>
pub type Fallible<T> = std::result::Result<T, Resource<Error>>;

/// An enum whose numbers in the table are the positions of its cases.
macro_rules! wit_enum {
    ($name:ident { $($case:ident = $wit:literal),* $(,)? }) => {
        #[derive(Clone, Copy, ComponentType, Lift, Lower)]
        #[component(enum)]
        #[repr(u8)]
        pub enum $name {
            $(#[component(name = $wit)] $case,)*
        }

        impl $name {
            const CASES: &'static [$name] = &[$($name::$case),*];

            #[allow(dead_code, reason = "some are only taken, some are only given")]
            pub fn from_number(number: u32) -> Result<$name> {
                let case = Self::CASES.get(number as usize).copied();
                case.ok_or_else(|| format_err!("wasinn: {} has no case {number}", stringify!($name)))
            }
        }
    };
}

wit_enum!(TensorType {
    Fp16 = "FP16",
    Fp32 = "FP32",
    Fp64 = "FP64",
    Bf16 = "BF16",
    U8 = "U8",
    I32 = "I32",
    I64 = "I64",
});

wit_enum!(GraphEncoding {
    Openvino = "openvino",
    Onnx = "onnx",
    Tensorflow = "tensorflow",
    Pytorch = "pytorch",
    Tensorflowlite = "tensorflowlite",
    Ggml = "ggml",
    Autodetect = "autodetect",
});

wit_enum!(ExecutionTarget { Cpu = "cpu", Gpu = "gpu", Tpu = "tpu" });

wit_enum!(ErrorCode {
    InvalidArgument = "invalid-argument",
    InvalidEncoding = "invalid-encoding",
    Timeout = "timeout",
    RuntimeError = "runtime-error",
    UnsupportedOperation = "unsupported-operation",
    TooLarge = "too-large",
    NotFound = "not-found",
    Security = "security",
    Unknown = "unknown",
});
