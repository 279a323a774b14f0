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

/// The inputs and outputs of one inference at a time on a graph. The host holds them. Make one, and use it for many inferences.
///
/// One thread at a time can use it; it may move to another thread. It lives until the guest ends, or until
/// [`finalize`](Context::finalize); [`Graph`](crate::Graph) says why.
///
/// `dims` is the shape, the outermost dimension first; `&[]` is a scalar. The host checks that the data fit the dims; if not, the
/// error is [`InvalidArgument`](crate::Error::InvalidArgument).
///
/// The host copies an input's data before a function returns.
#[derive(Debug)]
pub struct Context {
    handle: u32,
    not_sync: PhantomData<Cell<()>>,
}

impl Context {
    pub(crate) fn of_handle(handle: u32) -> Context {
        Context { handle, not_sync: PhantomData }
    }

    /// Sets input `index`, in the model's order. It keeps its value over any number of computes.
    pub fn set_input<T: Element>(&self, index: u32, data: &[T], dims: &[u32]) -> Result<()> {
        let tensor = tensor_of(data, dims);
        // SAFETY: the tensor is of slices that live until the call returns.
        check(unsafe { raw::wasi_nn_set_input(self.handle, index, &tensor) })
    }

    /// The same, by the model's name for the input, or by a decimal index. Only on wasinn, like all functions that take names.
    pub fn set_input_by_name<T: Element>(&self, name: &str, data: &[T], dims: &[u32]) -> Result<()> {
        let tensor = tensor_of(data, dims);
        // SAFETY: the tensor is of slices that live until the call returns, and so does the name.
        check(unsafe { raw::wasinn_set_input_by_name(self.handle, name.as_ptr(), length(name.len()), &tensor) })
    }

    /// Makes output `output_index` of `from` this context's input `index`. The tensor does not pass through the guest's memory.
    /// `from` may be of another model, of the same model, or this context. Type and shape must fit the input. Only on wasinn.
    pub fn set_input_from_output(&self, index: u32, from: &Context, output_index: u32) -> Result<()> {
        // SAFETY: numbers go to the host.
        check(unsafe { raw::wasinn_set_input_from_output(self.handle, index, from.handle, output_index) })
    }

    /// Runs the model. Returns when the outputs are ready.
    pub fn compute(&self) -> Result<()> {
        // SAFETY: the host writes nothing into this guest's memory but where a WritingContext, which is of this thread, has let it.
        check(unsafe { raw::wasi_nn_compute(self.handle) })
    }

    /// Copies output `index` of the last compute to `out`, and returns the number of its elements. If `out` is too small, nothing
    /// is copied, and the error has the needed size.
    pub fn get_output<T: Element>(&self, index: u32, out: &mut [T]) -> Result<usize> {
        // SAFETY: fill_slice gives a buffer of that size, here and in the next functions.
        fill_slice(out, |data, size, written| unsafe {
            raw::wasi_nn_get_output(self.handle, index, data, size, written)
        })
    }

    /// Returns all elements of output `index`. It asks for their number first; the host must report it.
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

    /// An inference in one call. It sets only these inputs, computes, and writes only these outputs. Afterwards no input is set,
    /// and there is no output to get. Large tensors are not copied if the framework can use the guest's buffers. Only on wasinn.
    ///
    /// If a buffer is too small, the error is [`TooLarge`](crate::Error::TooLarge), and [`Output::written`] has each output's
    /// size.
    pub fn compute_once(&self, inputs: &[Input<'_>], outputs: &mut [Output<'_>]) -> Result<()> {
        compute_once(self.handle, inputs, outputs)
    }

    /// Selects this output: from now on computes need only produce the selected outputs. Only on wasinn.
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

    /// Makes a context whose computes write outputs to the guest's own buffers. Only on wasinn.
    pub fn into_writing<'b>(self) -> WritingContext<'b> {
        WritingContext::of(self)
    }

    /// Generates the next piece of an answer. The first call begins with the inputs.
    /// [`EndOfSequence`](crate::Error::EndOfSequence): the answer is complete.
    /// [`UnsupportedOperation`](crate::Error::UnsupportedOperation): the model does not generate piece by piece. This and the
    /// next two are only on WasmEdge and wasinn.
    pub fn compute_single(&self) -> Result<()> {
        // SAFETY: as for compute.
        check(unsafe { raw::wasi_nn_compute_single(self.handle) })
    }

    /// Returns the newest piece. A piece of text has whole UTF-8 characters only, so it may be empty.
    pub fn get_output_single<T: Element>(&self, index: u32) -> Result<Vec<T>> {
        // SAFETY: fill_vec gives a buffer of that size.
        fill_vec(|data, size, written| unsafe {
            raw::wasi_nn_get_output_single(self.handle, index, data, size, written)
        })
    }

    /// Ends the generation, if there is one.
    pub fn fini_single(&self) -> Result<()> {
        // SAFETY: a number goes to the host.
        check(unsafe { raw::wasi_nn_fini_single(self.handle) })
    }

    /// Frees the context. Only on WasmEdge and wasinn.
    ///
    /// The host's function can also end a compute of another thread. That thread then has the context; call
    /// [`raw::wasi_nn_finalize_execution_context`] with its [`handle`](Context::handle).
    pub fn finalize(self) -> Result<()> {
        // SAFETY: a number goes to the host.
        check(unsafe { raw::wasi_nn_finalize_execution_context(self.handle) })
    }

    /// The host's number for it, for the functions of [`raw`].
    pub fn handle(&self) -> u32 {
        self.handle
    }
}
