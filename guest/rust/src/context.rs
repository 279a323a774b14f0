use alloc::vec::Vec;
use core::cell::Cell;
use core::marker::PhantomData;
use core::ptr::null_mut;

use crate::error::{check, Result};
use crate::fill::{fill_slice, fill_vec};
use crate::once::{compute_once, Input, Output};
use crate::raw;
use crate::tensor::{length, tensor_of, Element};
use crate::writing::WritingContext;

/// One inference at a time on a graph: its inputs and outputs, which the host has. Make one, and use it for many inferences.
///
/// It serves one thread at a time: it may go to another thread, but two cannot have it. It lives until the guest ends, or until
/// [`finalize`](Context::finalize), for the reason that [`Graph`](crate::Graph) tells.
///
/// Shapes are `dims`, the outermost dimension first; `&[]` is a scalar's. Whether the data are as many as the dims say is for the
/// host to check: if not, the error is [`InvalidArgument`](crate::Error::InvalidArgument).
///
/// The host copies the data of an input before a function returns. One exception: an operator can choose, for a guest, that
/// inputs are "by-reference". Then each compute reads what is in their memory by then; a guest that leaves the data alone until its
/// last compute on them is right with both.
#[derive(Debug)]
pub struct Context {
    handle: u32,
    not_sync: PhantomData<Cell<()>>,
}

impl Context {
    pub(crate) fn of_handle(handle: u32) -> Context {
        Context { handle, not_sync: PhantomData }
    }

    /// Sets input `index`, in the model's own order. It keeps its value over any number of computes.
    pub fn set_input<T: Element>(&self, index: u32, data: &[T], dims: &[u32]) -> Result<()> {
        let tensor = tensor_of(data, dims);
        // SAFETY: the tensor is of slices that live until the call returns.
        check(unsafe { raw::wasi_nn_set_input(self.handle, index, &tensor) })
    }

    /// The same by the model's own name for the input, or a decimal index. wasinn's, as all that goes by names.
    pub fn set_input_by_name<T: Element>(&self, name: &str, data: &[T], dims: &[u32]) -> Result<()> {
        let tensor = tensor_of(data, dims);
        // SAFETY: the tensor is of slices that live until the call returns, and so does the name.
        check(unsafe { raw::wasinn_set_input_by_name(self.handle, name.as_ptr(), length(name.len()), &tensor) })
    }

    /// What output `output_index` of `from` was computed to be becomes input `index`, without a way through this guest's memory.
    /// `from` may be of another model, of the same one, or this context itself. Type and shape must be what the input takes.
    /// wasinn's.
    pub fn set_input_from_output(&self, index: u32, from: &Context, output_index: u32) -> Result<()> {
        // SAFETY: numbers go to the host.
        check(unsafe { raw::wasinn_set_input_from_output(self.handle, index, from.handle, output_index) })
    }

    /// Runs the model; returns when the outputs are there.
    pub fn compute(&self) -> Result<()> {
        // SAFETY: the host writes nothing into this guest's memory but where a WritingContext, which is of this thread, has let it.
        check(unsafe { raw::wasi_nn_compute(self.handle) })
    }

    /// Copies output `index` of the last compute to `out`, and returns how many elements the output has. If `out` is too small,
    /// nothing is copied, and the error tells the size that is needed.
    pub fn get_output<T: Element>(&self, index: u32, out: &mut [T]) -> Result<usize> {
        // SAFETY: fill_slice gives a buffer of that size, here and in the next functions.
        fill_slice(out, |data, size, written| unsafe {
            raw::wasi_nn_get_output(self.handle, index, data, size, written)
        })
    }

    /// All elements of output `index`: asks for their number first, where the host tells it.
    pub fn get_output_vec<T: Element>(&self, index: u32) -> Result<Vec<T>> {
        // SAFETY: as above.
        fill_vec(|data, size, written| unsafe { raw::wasi_nn_get_output(self.handle, index, data, size, written) })
    }

    /// As [`get_output`](Context::get_output), by name.
    pub fn get_output_by_name<T: Element>(&self, name: &str, out: &mut [T]) -> Result<usize> {
        // SAFETY: as above, and the name lives until the call returns.
        fill_slice(out, |data, size, written| unsafe {
            raw::wasinn_get_output_by_name(self.handle, name.as_ptr(), length(name.len()), data, size, written)
        })
    }

    /// As [`get_output_vec`](Context::get_output_vec), by name.
    pub fn get_output_vec_by_name<T: Element>(&self, name: &str) -> Result<Vec<T>> {
        // SAFETY: as above, and the name lives until the call returns.
        fill_vec(|data, size, written| unsafe {
            raw::wasinn_get_output_by_name(self.handle, name.as_ptr(), length(name.len()), data, size, written)
        })
    }

    /// An inference in one call: sets these inputs and no others, computes, and writes these outputs and no others. Nothing is left
    /// of it: afterwards no input is set, and there is no output to get. Large tensors stay where they are, where the framework can
    /// compute on them there. wasinn's.
    ///
    /// If a buffer is too small, the error is [`TooLarge`](crate::Error::TooLarge), and [`Output::written`] tells the size of each.
    pub fn compute_once(&self, inputs: &[Input<'_>], outputs: &mut [Output<'_>]) -> Result<()> {
        compute_once(self.handle, inputs, outputs)
    }

    /// From now on a compute produces this output, and no other that was not chosen likewise, where the framework can leave one out.
    /// wasinn's.
    pub fn select_output(&self, index: u32) -> Result<()> {
        // SAFETY: a null buffer is none, and nothing is written.
        check(unsafe { raw::wasinn_set_output(self.handle, index, null_mut(), 0, null_mut()) })
    }

    /// The same by name.
    pub fn select_output_by_name(&self, name: &str) -> Result<()> {
        let (name, name_len) = (name.as_ptr(), length(name.len()));
        // SAFETY: a null buffer is none, and nothing is written; the name lives until the call returns.
        check(unsafe { raw::wasinn_set_output_by_name(self.handle, name, name_len, null_mut(), 0, null_mut()) })
    }

    /// A context whose computes write outputs where they are told to. wasinn's.
    pub fn into_writing<'b>(self) -> WritingContext<'b> {
        WritingContext::of(self)
    }

    /// Generates the next piece of an answer, the first one from the inputs; [`EndOfSequence`](crate::Error::EndOfSequence) when
    /// nothing more comes. [`UnsupportedOperation`](crate::Error::UnsupportedOperation) of models that answer all at once.
    /// WasmEdge's and wasinn's, as are the next two.
    pub fn compute_single(&self) -> Result<()> {
        // SAFETY: as for compute.
        check(unsafe { raw::wasi_nn_compute_single(self.handle) })
    }

    /// The newest piece. Of text it is whole characters of UTF-8, and perhaps none.
    pub fn get_output_single<T: Element>(&self, index: u32) -> Result<Vec<T>> {
        // SAFETY: fill_vec gives a buffer of that size.
        fill_vec(|data, size, written| unsafe {
            raw::wasi_nn_get_output_single(self.handle, index, data, size, written)
        })
    }

    /// Ends the generation, which may have ended.
    pub fn fini_single(&self) -> Result<()> {
        // SAFETY: a number goes to the host.
        check(unsafe { raw::wasi_nn_fini_single(self.handle) })
    }

    /// Gives the context back. WasmEdge's and wasinn's.
    ///
    /// The host's function also ends a compute of another thread: that one has the context then, and this one its
    /// [`handle`](Context::handle) for [`raw::wasi_nn_finalize_execution_context`].
    pub fn finalize(self) -> Result<()> {
        // SAFETY: a number goes to the host.
        check(unsafe { raw::wasi_nn_finalize_execution_context(self.handle) })
    }

    /// The host's number for it, for functions of [`raw`].
    pub fn handle(&self) -> u32 {
        self.handle
    }
}
