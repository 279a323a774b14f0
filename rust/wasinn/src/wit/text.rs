//! Strings of a guest. UTF-8 is read in place; other encodings are converted to a new string of the host, whose size
//! the guest chooses.

use std::borrow::Cow;
use std::ffi::c_char;
use wasmtime::component::__internal::wasmtime_environ::component::StringEncoding;
use wasmtime::component::__internal::{CanonicalAbiInfo, InstanceType, InterfaceType, LiftContext};
use wasmtime::component::{ComponentType, Lift, WasmStr};
use wasmtime::{Result, bail};

use crate::wit::types::Store;

/// The most bytes that one call may convert. Every name or configuration that the table accepts is shorter.
const MOST_CONVERTED: usize = 1 << 20;

/// The most bytes of a list of strings: each string is validated, and thousands may share one place in memory.
const MOST_READ: usize = 1 << 30;

/// A string in the guest's memory.
pub struct Text {
    text: WasmStr,
    bytes: usize,
    is_utf8: bool,
}

impl Text {
    pub fn to_str<'a, T: 'static>(&self, store: &'a Store<'_, T>) -> Result<Cow<'a, str>> {
        check(self.converted_bytes())?;
        self.text.to_str(store)
    }

    /// The same, valid until the guest continues, whoever borrows the store.
    pub fn hold<T: 'static>(&self, store: &Store<'_, T>) -> Result<HeldText> {
        self.to_str(store).map(HeldText::new)
    }

    fn converted_bytes(&self) -> usize {
        if self.is_utf8 { 0 } else { self.bytes }
    }

    fn new(cx: &LiftContext<'_>, text: WasmStr, code_units: u32) -> Self {
        /// A flag of CompactUtf16: the string is UTF-16. Not part of the length.
        const UTF16_TAG: u32 = 1 << 31;
        let encoding = cx.options().string_encoding;
        let bytes = match encoding {
            StringEncoding::Utf8 => code_units as usize,
            StringEncoding::Utf16 => 2 * code_units as usize,
            StringEncoding::CompactUtf16 => 2 * (code_units & !UTF16_TAG) as usize,
        };
        Text { text, bytes, is_utf8: matches!(encoding, StringEncoding::Utf8) }
    }
}

/// A string in the guest's memory, or converted.
pub struct HeldText {
    pub data: *const u8,
    pub size: usize,
    converted: Option<String>,
}

impl HeldText {
    fn new(text: Cow<'_, str>) -> Self {
        match text {
            Cow::Borrowed(text) => HeldText { data: text.as_ptr(), size: text.len(), converted: None },
            Cow::Owned(text) => HeldText { data: text.as_ptr(), size: text.len(), converted: Some(text) },
        }
    }

    pub fn is_converted(&self) -> bool {
        self.converted.is_some()
    }

    pub fn chars(&self) -> *const c_char {
        self.data.cast()
    }
}

/// Holds the strings of one call, and limits their total size.
#[derive(Default)]
pub struct Holder {
    bytes: usize,
    converted_bytes: usize,
}

impl Holder {
    pub fn hold<T: 'static>(&mut self, text: &Text, store: &Store<'_, T>) -> Result<HeldText> {
        self.bytes = self.bytes.saturating_add(text.bytes);
        self.converted_bytes = self.converted_bytes.saturating_add(text.converted_bytes());
        check(self.converted_bytes)?;
        if self.bytes > MOST_READ {
            bail!("a list of strings of {} bytes or more is over the limit of {MOST_READ}", self.bytes);
        }
        text.text.to_str(store).map(HeldText::new)
    }
}

fn check(converted_bytes: usize) -> Result<()> {
    if converted_bytes > MOST_CONVERTED {
        bail!("strings that are not in UTF-8 have {converted_bytes} bytes, and the limit is {MOST_CONVERTED}");
    }
    Ok(())
}

// SAFETY: the canonical ABI sees a string.
unsafe impl ComponentType for Text {
    type Lower = <WasmStr as ComponentType>::Lower;
    const ABI: CanonicalAbiInfo = WasmStr::ABI;

    fn typecheck(ty: &InterfaceType, types: &InstanceType<'_>) -> Result<()> {
        WasmStr::typecheck(ty, types)
    }
}

// SAFETY: a string is lifted, and its length, the second of two 32-bit numbers, is read again.
unsafe impl Lift for Text {
    fn linear_lift_from_flat(cx: &mut LiftContext<'_>, ty: InterfaceType, src: &Self::Lower) -> Result<Self> {
        let text = WasmStr::linear_lift_from_flat(cx, ty, src)?;
        Ok(Text::new(cx, text, src[1].get_u32()))
    }

    fn linear_lift_from_memory(cx: &mut LiftContext<'_>, ty: InterfaceType, bytes: &[u8]) -> Result<Self> {
        let text = WasmStr::linear_lift_from_memory(cx, ty, bytes)?;
        Ok(Text::new(cx, text, u32::from_le_bytes(*bytes[4..].first_chunk().unwrap())))
    }
}
