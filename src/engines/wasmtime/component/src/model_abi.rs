//! ../model_abi.h in Rust.

use std::ffi::c_void;
use std::{ptr, slice, str};
use wasinn_sys::wasinn_bytes as Bytes;
use wasmtime::Result;
use wasmtime::component::{ComponentType, Lift, Lower};

use crate::model_lift::{Data, Few, Words};

/// In the order of wasinn:serve/types.
#[derive(Clone, Copy, ComponentType, Lift, Lower)]
#[component(enum)]
#[repr(u8)]
#[allow(dead_code, reason = "they come as numbers")]
pub enum Datatype {
    #[component(name = "bool")]
    Bool,
    #[component(name = "uint8")]
    Uint8,
    #[component(name = "uint16")]
    Uint16,
    #[component(name = "uint32")]
    Uint32,
    #[component(name = "uint64")]
    Uint64,
    #[component(name = "int8")]
    Int8,
    #[component(name = "int16")]
    Int16,
    #[component(name = "int32")]
    Int32,
    #[component(name = "int64")]
    Int64,
    #[component(name = "fp16")]
    Fp16,
    #[component(name = "bf16")]
    Bf16,
    #[component(name = "fp32")]
    Fp32,
    #[component(name = "fp64")]
    Fp64,
    #[component(name = "bytes")]
    Bytes,
}

const DATATYPES: [Datatype; 14] = {
    use Datatype::*;
    [Bool, Uint8, Uint16, Uint32, Uint64, Int8, Int16, Int32, Int64, Fp16, Bf16, Fp32, Fp64, Bytes]
};

#[repr(C)]
pub struct Tensor {
    name: Bytes,
    datatype: u32,
    shape: *const u64,
    rank: usize,
    data: Bytes,
}

#[repr(C)]
pub struct Call {
    struct_size: u32,
    user: *mut c_void,
    is_interrupted: unsafe extern "C" fn(*mut c_void) -> bool,
    charge: unsafe extern "C" fn(*mut c_void, usize) -> bool,
    pub most_bytes: usize,
    inputs: *const Tensor,
    n_inputs: usize,
    outputs: *const Bytes,
    n_outputs: usize,
}

/// The first member of its owner.
#[repr(C)]
pub struct Answer {
    refusal: u32,
    message: Bytes,
    tensors: *const Tensor,
    n_tensors: usize,
    n_inputs: usize,
}

#[cfg(target_pointer_width = "64")]
const _: () = {
    assert!(size_of::<Tensor>() == 56);
    assert!(size_of::<Call>() == 72);
    assert!(size_of::<Answer>() == 48);
};

/// A tensor, lowered from its place in memory.
#[derive(ComponentType, Lower)]
#[component(record)]
pub struct Given<'a> {
    name: &'a str,
    datatype: Datatype,
    shape: &'a [u64],
    data: &'a [u8],
}

#[derive(ComponentType, Lift)]
#[component(record)]
pub struct Made {
    name: Words,
    datatype: Datatype,
    shape: Few<u64, 64>,
    data: Data,
}

pub type AllMade = Few<Made, 8192>;

#[derive(ComponentType, Lift)]
#[component(record)]
pub struct Described {
    name: String,
    datatype: Datatype,
    shape: Vec<i64>,
}

#[derive(ComponentType, Lift)]
#[component(record)]
pub struct Metadata {
    inputs: Vec<Described>,
    outputs: Vec<Described>,
}

#[derive(ComponentType, Lift)]
#[component(variant)]
pub enum Refusal {
    #[component(name = "invalid-argument")]
    InvalidArgument(Words),
    #[component(name = "failed")]
    Failed(Words),
}

/// # Safety
/// The elements are valid for as long as the result is used.
unsafe fn slice_of<'a, T>(data: *const T, count: usize) -> &'a [T] {
    if count == 0 {
        return &[];
    }
    // SAFETY: the caller guarantees it.
    unsafe { slice::from_raw_parts(data, count) }
}

fn bytes_of(slice: &[u8]) -> Bytes {
    Bytes { data: slice.as_ptr(), size: slice.len() }
}

impl Call {
    pub fn is_whole(&self) -> bool {
        self.struct_size as usize >= size_of::<Call>()
    }

    pub fn is_interrupted(&self) -> bool {
        // SAFETY: the embedder guarantees it.
        unsafe { (self.is_interrupted)(self.user) }
    }

    /// Whether this many more bytes of an answer may be copied.
    pub fn charge(&self, bytes: usize) -> bool {
        // SAFETY: the embedder guarantees it.
        unsafe { (self.charge)(self.user, bytes) }
    }

    /// # Safety
    /// The call is valid as its header documents, and outlives the result.
    pub unsafe fn inputs(&self) -> Result<Vec<Given<'_>>> {
        // SAFETY: the caller guarantees it.
        let given = |tensor: &Tensor| unsafe {
            Ok(Given {
                name: str::from_utf8(slice_of(tensor.name.data, tensor.name.size))?,
                datatype: DATATYPES[tensor.datatype as usize],
                shape: slice_of(tensor.shape, tensor.rank),
                data: slice_of(tensor.data.data, tensor.data.size),
            })
        };
        // SAFETY: as above.
        unsafe { slice_of(self.inputs, self.n_inputs) }.iter().map(given).collect()
    }

    /// # Safety
    /// As above.
    pub unsafe fn outputs(&self) -> Result<Vec<&str>> {
        // SAFETY: as above.
        let name = |name: &Bytes| Ok(str::from_utf8(unsafe { slice_of(name.data, name.size) })?);
        // SAFETY: as above.
        unsafe { slice_of(self.outputs, self.n_outputs) }.iter().map(name).collect()
    }
}

/// The data behind the pointers of `Owned`.
#[allow(dead_code, reason = "it is only kept")]
enum Kept {
    Text(String),
    Made(Vec<Made>),
    Metadata(Metadata),
}

#[repr(C)]
pub struct Owned {
    answer: Answer,
    tensors: Vec<Tensor>,
    _kept: Kept,
}

impl Owned {
    fn new(kept: Kept, tensors: Vec<Tensor>, n_inputs: usize) -> Box<Self> {
        let answer =
            Answer { refusal: 0, message: bytes_of(&[]), tensors: ptr::null(), n_tensors: tensors.len(), n_inputs };
        let mut owned = Box::new(Owned { answer, tensors, _kept: kept });
        owned.answer.tensors = owned.tensors.as_ptr();
        owned
    }

    pub fn of_made(Few(made): AllMade) -> Box<Self> {
        let tensor = |made: &Made| Tensor {
            name: bytes_of(made.name.0.as_bytes()),
            datatype: made.datatype as u32,
            shape: made.shape.0.as_ptr(),
            rank: made.shape.0.len(),
            data: bytes_of(&made.data.0),
        };
        let tensors = made.iter().map(tensor).collect();
        Self::new(Kept::Made(made), tensors, 0)
    }

    pub fn of_refusal(refusal: Refusal) -> Box<Self> {
        let (number, text) = match refusal {
            Refusal::InvalidArgument(Words(text)) => (1, text),
            Refusal::Failed(Words(text)) => (2, text),
        };
        let message = bytes_of(text.as_bytes());
        let mut owned = Self::new(Kept::Text(text), Vec::new(), 0);
        owned.answer.refusal = number;
        owned.answer.message = message;
        owned
    }

    pub fn of_metadata(metadata: Metadata) -> Box<Self> {
        let tensor = |one: &Described| Tensor {
            name: bytes_of(one.name.as_bytes()),
            datatype: one.datatype as u32,
            shape: one.shape.as_ptr().cast(),
            rank: one.shape.len(),
            data: bytes_of(&[]),
        };
        let tensors = metadata.inputs.iter().chain(&metadata.outputs).map(tensor).collect();
        let n_inputs = metadata.inputs.len();
        Self::new(Kept::Metadata(metadata), tensors, n_inputs)
    }
}
