use core::cell::Cell;
use core::fmt;
use core::marker::PhantomData;
use core::ops::Deref;

use crate::context::Context;
use crate::error::{check, Result};
use crate::raw;
use crate::tensor::{length, Element};

/// A context whose computes write outputs to buffers: [`set_output`](WritingContext::set_output) sets them, and `get_output` is
/// not needed. Otherwise it is a [`Context`].
///
/// The host keeps the buffers' addresses, so they must stay in place while anything may compute on the context. Only this value
/// can, and it borrows the buffers as long as it is used. It borrows them as cells, so the guest may read them between computes.
/// Cells and this value are never shared among threads, so nobody reads them during a compute.
///
/// ```no_run
/// # use core::cell::Cell;
/// # fn main() -> wasinn_guest::Result<()> {
/// let mut scores = [0f32; 10];
/// let written = Cell::new(0);
/// let mut context = wasinn_guest::Graph::load_by_name("digits")?.init_execution_context()?.into_writing();
/// let cells = Cell::from_mut(&mut scores[..]).as_slice_of_cells();
/// context.set_output(0, cells, &written)?;
/// context.set_input(0, &[0f32; 64], &[1, 1, 8, 8])?;
/// context.compute()?;
/// let of_zero = cells[0].get();
/// # Ok(())
/// # }
/// ```
///
/// Memory that does not live as long is refused by the compiler:
///
/// ```compile_fail,E0597
/// # use core::cell::Cell;
/// # fn example(mut context: wasinn_guest::WritingContext<'_>) -> wasinn_guest::Result<()> {
/// {
///     let (cells, written) = ([Cell::new(0f32)], Cell::new(0));
///     context.set_output(0, &cells, &written)?;
/// }
/// context.compute()
/// # }
/// ```
pub struct WritingContext<'b> {
    context: Context,
    // Neither sent nor shared, as cells are not.
    buffers: PhantomData<&'b Cell<u8>>,
}

impl<'b> WritingContext<'b> {
    pub(crate) fn of(context: Context) -> WritingContext<'b> {
        WritingContext { context, buffers: PhantomData }
    }

    /// From now on every compute writes output `index` to `buffer`, and its size in bytes to `written`. If the buffer is too
    /// small, compute fails with [`TooLarge`](crate::Error::TooLarge), and `get_output` still works. From now on only the outputs
    /// that were set are there.
    // By &mut: through & the lifetime could be shortened for one call.
    pub fn set_output<T: Element>(&mut self, index: u32, buffer: &'b [Cell<T>], written: &'b Cell<u32>) -> Result<()> {
        let (data, size) = place_of(buffer);
        // SAFETY: the host writes there only in computes of this context. It belongs to this value, so that there are none after
        // 'b, nor on another thread.
        check(unsafe { raw::wasinn_set_output(self.context.handle(), index, data, size, written.as_ptr()) })
    }

    /// The same by name.
    pub fn set_output_by_name<T: Element>(
        &mut self,
        name: &str,
        buffer: &'b [Cell<T>],
        written: &'b Cell<u32>,
    ) -> Result<()> {
        let (data, size) = place_of(buffer);
        let (name, name_len) = (name.as_ptr(), length(name.len()));
        let handle = self.context.handle();
        // SAFETY: as above, and the name lives until the call returns.
        check(unsafe { raw::wasinn_set_output_by_name(handle, name, name_len, data, size, written.as_ptr()) })
    }

    /// Returns the plain context.
    pub fn finalize(self) -> Result<()> {
        self.context.finalize()
    }
}

/// For reading only. Nobody can take the context out, because its computes would then go on after 'b.
impl Deref for WritingContext<'_> {
    type Target = Context;

    fn deref(&self) -> &Context {
        &self.context
    }
}

impl fmt::Debug for WritingContext<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.context.fmt(f)
    }
}

fn place_of<T: Element>(buffer: &[Cell<T>]) -> (*mut u8, u32) {
    (buffer.as_ptr().cast_mut().cast(), length(size_of_val(buffer)))
}
