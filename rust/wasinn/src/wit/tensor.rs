//! wasi:nn/tensor

use wasmtime::Result;
use wasmtime::component::{Resource, ResourceType, WasmList};

use crate::wit::blocking::Callers;
use crate::wit::calls::Calls;
use crate::wit::types::{Instance, Store, Tensor, TensorType};
use crate::wit::views::Shown;

// SAFETY, for all of this file: arguments are valid for the call, and the table's functions write their outputs.
#[allow(clippy::undocumented_unsafe_blocks)]
pub fn define<T: 'static, C: Callers<T>>(mut instance: Instance<'_, T>, calls: Calls<C>) -> Result<()> {
    let table = calls.library.functions;
    instance.resource("tensor", ResourceType::host::<Tensor>(), move |mut store, rep| {
        calls.check(unsafe { (table.tensor_drop)(calls.guest(&mut store), rep) })
    })?;
    type New = (WasmList<u32>, TensorType, WasmList<u8>);
    instance.func_wrap("[constructor]tensor", move |mut store: Store<'_, T>, (dimensions, ty, data): New| {
        let guest = calls.guest(&mut store);
        let (dimensions, data) = (dimensions.as_le_slice(&store), data.as_le_slice(&store));
        let (rank, size) = (dimensions.len(), data.len());
        let mut tensor = 0;
        calls.check(unsafe {
            (table.tensor_new)(guest, dimensions.as_ptr(), rank, ty as u32, data.as_ptr(), size, &mut tensor)
        })?;
        Ok((Resource::<Tensor>::new_own(tensor),))
    })?;
    type This = (Resource<Tensor>,);
    instance.func_wrap("[method]tensor.dimensions", move |mut store: Store<'_, T>, (tensor,): This| {
        let mut dimensions = Shown::<u32>::empty();
        let guest = calls.guest(&mut store);
        calls.check(unsafe { (table.tensor_dimensions)(guest, tensor.rep(), dimensions.out()) })?;
        Ok((dimensions,))
    })?;
    instance.func_wrap("[method]tensor.ty", move |mut store: Store<'_, T>, (tensor,): This| {
        let mut ty = 0;
        calls.check(unsafe { (table.tensor_type)(calls.guest(&mut store), tensor.rep(), &mut ty) })?;
        Ok((TensorType::from_number(ty)?,))
    })?;
    instance.func_wrap("[method]tensor.data", move |mut store: Store<'_, T>, (tensor,): This| {
        let mut data = Shown::<u8>::empty();
        calls.check(unsafe { (table.tensor_data)(calls.guest(&mut store), tensor.rep(), data.out()) })?;
        Ok((data,))
    })
}
