use core::marker::PhantomData;
use core::ptr::null;

use crate::error::{check, Result};
use crate::raw;
use crate::tensor::{length, tensor_of, Element};

/// An input of [`compute_once`](crate::Context::compute_once).
#[repr(transparent)]
pub struct Input<'a> {
    record: raw::Input,
    data: PhantomData<&'a [u8]>,
}

impl<'a> Input<'a> {
    /// By its index.
    pub fn new<T: Element>(index: u32, data: &'a [T], dims: &'a [u32]) -> Input<'a> {
        Input { record: raw::Input { name: null(), name_len: index, tensor: tensor_of(data, dims) }, data: PhantomData }
    }

    /// By the model's name for it.
    pub fn named<T: Element>(name: &'a str, data: &'a [T], dims: &'a [u32]) -> Input<'a> {
        let (name, name_len) = (name.as_ptr(), length(name.len()));
        Input { record: raw::Input { name, name_len, tensor: tensor_of(data, dims) }, data: PhantomData }
    }
}

/// An output of [`compute_once`](crate::Context::compute_once).
#[repr(transparent)]
pub struct Output<'a> {
    record: raw::Output,
    buffer: PhantomData<&'a mut [u8]>,
}

impl<'a> Output<'a> {
    /// By its index.
    pub fn new<T: Element>(index: u32, buffer: &'a mut [T]) -> Output<'a> {
        Output::of(null(), index, buffer)
    }

    /// By the model's name for it.
    pub fn named<T: Element>(name: &'a str, buffer: &'a mut [T]) -> Output<'a> {
        Output::of(name.as_ptr(), length(name.len()), buffer)
    }

    /// The output's size in bytes, even if the buffer is too small; 0: not known.
    pub fn written(&self) -> usize {
        self.record.written as usize
    }

    fn of<T: Element>(name: *const u8, name_len: u32, buffer: &'a mut [T]) -> Output<'a> {
        let buffer_size = length(size_of_val(buffer));
        let record = raw::Output { name, name_len, buffer: buffer.as_mut_ptr().cast(), buffer_size, written: 0 };
        Output { record, buffer: PhantomData }
    }
}

pub(crate) fn compute_once(context_or_graph: u32, inputs: &[Input<'_>], outputs: &mut [Output<'_>]) -> Result<()> {
    for output in outputs.iter_mut() {
        output.record.written = 0; // of a call before, which this one may not get to write
    }
    // SAFETY: both arrays have the layout of their records, which are of memory that is borrowed until the call returns, that of
    // outputs exclusively.
    check(unsafe {
        let (inputs_len, outputs_len) = (length(inputs.len()), length(outputs.len()));
        raw::wasinn_compute_once(
            context_or_graph,
            inputs.as_ptr().cast(),
            inputs_len,
            outputs.as_mut_ptr().cast(),
            outputs_len,
        )
    })
}
