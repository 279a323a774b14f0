//! Views of wasinn's memory, lowered straight into the guest's memory: one copy, and no buffer between.

use std::borrow::Cow;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::slice;
use wasinn_sys::{wasinn_wit_named_tensor, wasinn_wit_view};
use wasmtime::Result;
use wasmtime::component::__internal::{CanonicalAbiInfo, InstanceType, InterfaceType, LowerContext};
use wasmtime::component::{ComponentType, Lower, Resource};

use crate::wit::types::Tensor;

/// Owns a view, and releases it once.
pub struct Shown<T> {
    view: wasinn_wit_view,
    _element: PhantomData<T>,
}

// SAFETY: a view's data does not change, and any thread may release it (wit.h).
unsafe impl<T> Send for Shown<T> {}
// SAFETY: as above.
unsafe impl<T> Sync for Shown<T> {}

impl<T> Shown<T> {
    /// An empty view for a function of the table to fill with elements of type T.
    pub fn empty() -> Self {
        let view = wasinn_wit_view { data: std::ptr::null(), count: 0, owner: std::ptr::null_mut(), release: None };
        Shown { view, _element: PhantomData }
    }

    pub fn out(&mut self) -> *mut wasinn_wit_view {
        &mut self.view
    }

    pub fn elements(&self) -> &[T] {
        // SAFETY: the table's functions fill in `count` elements of T, valid until the release.
        unsafe { slice_of(self.view.data.cast(), self.view.count) }
    }
}

impl<T> Default for Shown<T> {
    fn default() -> Self {
        Self::empty()
    }
}

impl<T> Drop for Shown<T> {
    fn drop(&mut self) {
        if let Some(release) = self.view.release {
            // SAFETY: this is the view's only owner, so it is released once.
            unsafe { release(self.view.owner) }
        }
    }
}

/// In C the address of an empty array may be null.
pub unsafe fn slice_of<'a, T>(data: *const T, count: usize) -> &'a [T] {
    if count == 0 {
        return &[];
    }
    // SAFETY: the caller guarantees it.
    unsafe { slice::from_raw_parts(data, count) }
}

/// A type that is lowered like another one, which it can borrow.
macro_rules! lower_as {
    ([$($t:ident)?] $name:ty, $as:ty, $lend:expr) => {
        // SAFETY: the canonical ABI sees the same type.
        unsafe impl $(<$t: ComponentType>)? ComponentType for $name {
            type Lower = <$as as ComponentType>::Lower;
            const ABI: CanonicalAbiInfo = <$as as ComponentType>::ABI;

            fn typecheck(ty: &InterfaceType, types: &InstanceType<'_>) -> Result<()> {
                <$as as ComponentType>::typecheck(ty, types)
            }
        }

        // SAFETY: the borrowed value is lowered.
        unsafe impl $(<$t: Lower>)? Lower for $name {
            fn linear_lower_to_flat<U>(
                &self,
                cx: &mut LowerContext<'_, U>,
                ty: InterfaceType,
                dst: &mut MaybeUninit<Self::Lower>,
            ) -> Result<()> {
                let lend: fn(&Self) -> &$as = $lend;
                lend(self).linear_lower_to_flat(cx, ty, dst)
            }

            fn linear_lower_to_memory<U>(
                &self,
                cx: &mut LowerContext<'_, U>,
                ty: InterfaceType,
                offset: usize,
            ) -> Result<()> {
                let lend: fn(&Self) -> &$as = $lend;
                lend(self).linear_lower_to_memory(cx, ty, offset)
            }
        }
    };
}

lower_as!([T] Shown<T>, [T], |shown| shown.elements());

/// A string. Messages of frameworks may be any bytes: if they are not UTF-8, a copy with replacements is made.
pub struct ShownText {
    text: Cow<'static, str>,
    _bytes: Shown<u8>,
}

impl ShownText {
    pub fn new(bytes: Shown<u8>) -> Self {
        // SAFETY: the elements live as long as the view, which this object owns, and no borrow of them outlives the
        // object.
        let elements = unsafe { slice_of(bytes.elements().as_ptr(), bytes.elements().len()) };
        ShownText { text: String::from_utf8_lossy(elements), _bytes: bytes }
    }
}

lower_as!([] ShownText, str, |shown| &shown.text);

/// list<named-tensor>, whose tensors pass to the guest. The names are in the view.
pub struct ShownTensors {
    tensors: Vec<(&'static str, Resource<Tensor>)>,
    _names: Shown<wasinn_wit_named_tensor>,
}

impl ShownTensors {
    pub fn new(shown: Shown<wasinn_wit_named_tensor>) -> Result<Self> {
        let mut tensors = Vec::with_capacity(shown.elements().len());
        for tensor in shown.elements() {
            // SAFETY: the name lives as long as the view, which this object owns, and no borrow of it outlives the
            // object.
            let name = unsafe { slice_of(tensor.name.cast(), tensor.name_size) };
            tensors.push((str::from_utf8(name)?, Resource::new_own(tensor.tensor)));
        }
        Ok(ShownTensors { tensors, _names: shown })
    }
}

lower_as!([] ShownTensors, [(&'static str, Resource<Tensor>)], |shown| &shown.tensors);
