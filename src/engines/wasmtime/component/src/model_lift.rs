//! A component's answer, lifted with limits: a guest decides its size, and all guests share the host's memory. (Rust
//! aborts the process if one of its own lists finds no memory.)

use std::cell::Cell;
use wasmtime::component::__internal::{CanonicalAbiInfo, InstanceType, InterfaceType, LiftContext};
use wasmtime::component::{ComponentType, Lift, WasmList};
use wasmtime::{Result, bail};

use crate::model_abi::Call;

/// The limit of a name or a message, in code units.
const MOST_TEXT: u32 = 64 << 10;

thread_local! {
    /// The call on this thread, whose answer is lifted here: Wasmtime passes no context to lifting.
    static CALL: Cell<*const Call> = const { Cell::new(std::ptr::null()) };
    static WRONG: Cell<Option<&'static str>> = const { Cell::new(None) };
}

/// While it lives, bytes are charged to the call, which outlives it.
pub struct Lifting;

impl Lifting {
    pub fn new(call: &Call) -> Self {
        CALL.set(call);
        WRONG.set(None);
        Lifting
    }

    /// The defect of the answer, if that is why the call failed.
    pub fn wrong(&self) -> Option<&'static str> {
        WRONG.get()
    }
}

impl Drop for Lifting {
    fn drop(&mut self) {
        CALL.set(std::ptr::null());
    }
}

fn refuse<T>(why: &'static str) -> Result<T> {
    WRONG.set(Some(why));
    bail!("{why}")
}

fn charge(bytes: usize) -> bool {
    let call = CALL.get();
    // SAFETY: the call outlives its `Lifting`, which resets the pointer.
    !call.is_null() && unsafe { &*call }.charge(bytes)
}

/// list<u8>, charged before it is copied.
pub struct Data(pub Vec<u8>);

impl Data {
    fn copy(cx: &LiftContext<'_>, ptr: u32, list: &WasmList<u8>) -> Result<Self> {
        let mut bytes = Vec::new();
        if !charge(list.len()) || bytes.try_reserve_exact(list.len()).is_err() {
            return refuse("there is no room for its answer");
        }
        bytes.extend_from_slice(&cx.memory()[ptr as usize..][..list.len()]); // WasmList has checked the range
        Ok(Data(bytes))
    }
}

/// A list of at most MOST elements.
pub struct Few<T, const MOST: usize>(pub Vec<T>);

impl<T: Lift, const MOST: usize> Few<T, MOST> {
    fn read(cx: &mut LiftContext<'_>, list: &WasmList<T>) -> Result<Self> {
        if list.len() > MOST {
            return refuse("more tensors, or dimensions, than a model can have");
        }
        T::linear_lift_list_from_memory(cx, list).map(Few)
    }
}

/// A string of limited length.
pub struct Words(pub String);

impl Words {
    fn check(code_units: u32) -> Result<()> {
        /// A flag of CompactUtf16, not part of the length.
        const UTF16_TAG: u32 = 1 << 31;
        if code_units & !UTF16_TAG > MOST_TEXT {
            refuse("a longer name or message than a model can have")
        } else {
            Ok(())
        }
    }
}

/// A type that is lifted like another: `$flat` and `$memory` get that type's source.
macro_rules! lift_as {
    ([$($generics:tt)*] $name:ty, $as:ty, $flat:expr, $memory:expr) => {
        // SAFETY: the canonical ABI sees the same type.
        unsafe impl<$($generics)*> ComponentType for $name {
            type Lower = <$as as ComponentType>::Lower;
            const ABI: CanonicalAbiInfo = <$as as ComponentType>::ABI;

            fn typecheck(ty: &InterfaceType, types: &InstanceType<'_>) -> Result<()> {
                <$as as ComponentType>::typecheck(ty, types)
            }
        }

        // SAFETY: as above.
        unsafe impl<$($generics)*> Lift for $name {
            fn linear_lift_from_flat(cx: &mut LiftContext<'_>, ty: InterfaceType, src: &Self::Lower) -> Result<Self> {
                let lift: fn(&mut LiftContext<'_>, InterfaceType, &Self::Lower) -> Result<Self> = $flat;
                lift(cx, ty, src)
            }

            fn linear_lift_from_memory(cx: &mut LiftContext<'_>, ty: InterfaceType, bytes: &[u8]) -> Result<Self> {
                let lift: fn(&mut LiftContext<'_>, InterfaceType, &[u8]) -> Result<Self> = $memory;
                lift(cx, ty, bytes)
            }
        }
    };
}

fn number(bytes: &[u8]) -> u32 {
    u32::from_le_bytes(*bytes.first_chunk().unwrap())
}

lift_as!(
    [] Data,
    WasmList<u8>,
    |cx, ty, src| {
        let list = WasmList::linear_lift_from_flat(cx, ty, src)?;
        Data::copy(cx, src[0].get_u32(), &list)
    },
    |cx, ty, bytes| {
        let list = WasmList::linear_lift_from_memory(cx, ty, bytes)?;
        Data::copy(cx, number(bytes), &list)
    }
);

lift_as!(
    [T: Lift, const MOST: usize] Few<T, MOST>,
    WasmList<T>,
    |cx, ty, src| {
        let list = WasmList::linear_lift_from_flat(cx, ty, src)?;
        Few::read(cx, &list)
    },
    |cx, ty, bytes| {
        let list = WasmList::linear_lift_from_memory(cx, ty, bytes)?;
        Few::read(cx, &list)
    }
);

lift_as!(
    [] Words,
    String,
    |cx, ty, src| {
        Words::check(src[1].get_u32())?;
        String::linear_lift_from_flat(cx, ty, src).map(Words)
    },
    |cx, ty, bytes| {
        Words::check(number(&bytes[4..]))?;
        String::linear_lift_from_memory(cx, ty, bytes).map(Words)
    }
);
