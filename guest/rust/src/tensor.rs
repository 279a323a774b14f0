use crate::raw;

/// The type of a tensor's elements, with wasi-nn's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum TensorType {
    F16 = 0,
    F32 = 1,
    F64 = 2,
    U8 = 3,
    I32 = 4,
    I64 = 5,
}

/// The bits of a half-precision number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(transparent)]
pub struct F16(pub u16);

mod sealed {
    /// Only for types without padding, for which every bit pattern is a value: a host may write any bytes.
    pub trait Sealed {}
}

/// An element of a tensor. The standard has no numbers for some types. wasinn takes others for them: u8 for `i8`, i32 for `u32`,
/// i64 for `u64`. i16, u16 and bf16 are `u8` with the last dimension doubled, and bool is `u8`.
pub trait Element: sealed::Sealed + Copy + Default + 'static {
    const TYPE: TensorType;
}

macro_rules! elements {
    ($($of:ty: $name:ident),*) => {
        $(
            impl sealed::Sealed for $of {}
            impl Element for $of {
                const TYPE: TensorType = TensorType::$name;
            }
        )*
    };
}
elements!(F16: F16, f32: F32, f64: F64, u8: U8, i8: U8, i32: I32, u32: I32, i64: I64, u64: I64);

/// A length as the host takes it. On wasm32 every length fits. Elsewhere a length that does not fit becomes one that the host
/// refuses.
pub(crate) fn length(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

/// The record of a tensor, valid as long as both slices are. The host checks that the data fit the dims.
pub(crate) fn tensor_of<T: Element>(data: &[T], dims: &[u32]) -> raw::Tensor {
    raw::Tensor {
        dims: dims.as_ptr(),
        dims_len: length(dims.len()),
        dtype: T::TYPE as u8,
        reserved: [0; 3],
        data: data.as_ptr().cast(),
        len: length(size_of_val(data)),
    }
}
