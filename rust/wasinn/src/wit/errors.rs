//! wasi:nn/errors

use wasmtime::Result;
use wasmtime::component::{Resource, ResourceType};

use crate::wit::blocking::Callers;
use crate::wit::calls::Calls;
use crate::wit::text::Text;
use crate::wit::types::{Error, ErrorCode, Instance, Store};
use crate::wit::views::{Shown, ShownText};

// SAFETY, for all of this file: arguments are valid for the call, and the table's functions write their outputs.
#[allow(clippy::undocumented_unsafe_blocks)]
pub fn define<T: 'static, C: Callers<T>>(
    mut instance: Instance<'_, T>,
    calls: Calls<C>,
    constructor: bool,
) -> Result<()> {
    let table = calls.library.functions;
    instance.resource("error", ResourceType::host::<Error>(), move |mut store, rep| {
        calls.check(unsafe { (table.error_drop)(calls.guest(&mut store), rep) })
    })?;
    if constructor {
        instance.func_wrap("[constructor]error", move |mut store: Store<'_, T>, (code, data): (ErrorCode, Text)| {
            let guest = calls.guest(&mut store);
            let data = data.to_str(&store)?;
            let mut error = 0;
            calls.check(unsafe {
                (table.error_new)(guest, code as u32, data.as_ptr().cast(), data.len(), &mut error)
            })?;
            Ok((Resource::<Error>::new_own(error),))
        })?;
    }
    type This = (Resource<Error>,);
    instance.func_wrap("[method]error.code", move |mut store: Store<'_, T>, (error,): This| {
        let mut code = 0;
        calls.check(unsafe { (table.error_code)(calls.guest(&mut store), error.rep(), &mut code) })?;
        Ok((ErrorCode::from_number(code)?,))
    })?;
    instance.func_wrap("[method]error.data", move |mut store: Store<'_, T>, (error,): This| {
        let mut data = Shown::<u8>::empty();
        calls.check(unsafe { (table.error_data)(calls.guest(&mut store), error.rep(), data.out()) })?;
        Ok((ShownText::new(data),))
    })
}
