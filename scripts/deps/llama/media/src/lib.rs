//! Decodes images and sounds into the caller's memory. The C functions are declared in `wasinn_media.h`.

mod counted;
mod image_file;
mod sound_container;
mod sound_file;
mod webp_file;

use base64::engine::{general_purpose::PAD, DecodePaddingMode, Engine, GeneralPurpose};
use sha2::{Digest, Sha256};
use std::ffi::{c_char, c_int, c_void};
use std::panic::{catch_unwind, AssertUnwindSafe};

use counted::Ledger;

/// What is wrong with a file. The numbers are those of `wasinn_llama_common.h`.
pub enum Fault {
    Wrong(String),
    TooMuch(String),
    Stopped,
}

impl Fault {
    fn wrong(what: impl std::fmt::Display) -> Self {
        Fault::Wrong(what.to_string())
    }
}

/// Asks whether so many bytes more may be allocated. It is also called with 0 now and then, to ask whether to continue.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Leave {
    pub ask: extern "C" fn(*mut c_void, u64) -> c_int,
    pub user: *mut c_void,
}

// The caller waits, so only one thread uses it at a time, even if a library requires thread-safe sources.
unsafe impl Send for Leave {}
unsafe impl Sync for Leave {}

impl Leave {
    pub fn take(&self, bytes: u64) -> Result<(), Fault> {
        if (self.ask)(self.user, bytes) == 0 {
            return Err(Fault::Stopped);
        }
        Ok(())
    }
}

#[repr(C)]
pub struct Text {
    size: usize,
    bytes: *mut c_char,
}

impl Text {
    fn write(&mut self, text: &str) {
        if self.size == 0 {
            return;
        }
        let mut end = text.len().min(self.size - 1);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        // SAFETY: the caller has `size` bytes there.
        unsafe {
            std::ptr::copy_nonoverlapping(text.as_ptr(), self.bytes.cast::<u8>(), end);
            *self.bytes.add(end) = 0;
        }
    }
}

/// The result of a function as its status. A panic of a library is the fault of the file.
fn status_of(error: &mut Text, run: impl FnOnce() -> Result<(), Fault>) -> c_int {
    match catch_unwind(AssertUnwindSafe(run)) {
        Ok(Ok(())) => 0,
        Ok(Err(Fault::Wrong(what))) => {
            error.write(&what);
            1
        }
        Ok(Err(Fault::TooMuch(what))) => {
            error.write(&what);
            2
        }
        Ok(Err(Fault::Stopped)) => 3,
        Err(_) => {
            error.write("its decoder gave up");
            1
        }
    }
}

const BASE64: GeneralPurpose =
    GeneralPurpose::new(&base64::alphabet::STANDARD, PAD.with_decode_padding_mode(DecodePaddingMode::Indifferent));

/// # Safety
/// `text` has `size` bytes, and `file` has room for three bytes per four of them, and three more.
#[no_mangle]
pub unsafe extern "C" fn wasinn_media_base64(
    text: *const u8,
    size: usize,
    file: *mut u8,
    file_size: &mut usize,
    error: &mut Text,
) -> c_int {
    let text = std::slice::from_raw_parts(text, size);
    let file = std::slice::from_raw_parts_mut(file, size / 4 * 3 + 3);
    status_of(error, || {
        *file_size =
            BASE64.decode_slice(text, file).map_err(|what| Fault::wrong(format!("it is not base64: {what}")))?;
        Ok(())
    })
}

/// # Safety
/// `data` has `size` bytes, and `digest` 32.
#[no_mangle]
pub unsafe extern "C" fn wasinn_media_sha256(data: *const u8, size: usize, digest: *mut u8) {
    let sum = Sha256::digest(std::slice::from_raw_parts(data, size));
    std::ptr::copy_nonoverlapping(sum.as_ptr(), digest, sum.len());
}

/// # Safety
/// `data` has `size` bytes, and the output arguments are valid.
#[no_mangle]
pub unsafe extern "C" fn wasinn_media_image_size(
    data: *const u8,
    size: usize,
    width: &mut u32,
    height: &mut u32,
    leave: Leave,
    error: &mut Text,
) -> c_int {
    let data = std::slice::from_raw_parts(data, size);
    status_of(error, || {
        (*width, *height, _) = image_file::measure(data, &Ledger::new(leave))?;
        Ok(())
    })
}

/// # Safety
/// `data` has `size` bytes, and `pixels` has three bytes for each pixel that `wasinn_media_image_size` reported.
#[no_mangle]
pub unsafe extern "C" fn wasinn_media_image_pixels(
    data: *const u8,
    size: usize,
    pixels: *mut u8,
    pixels_size: usize,
    leave: Leave,
    error: &mut Text,
) -> c_int {
    let data = std::slice::from_raw_parts(data, size);
    let pixels = std::slice::from_raw_parts_mut(pixels, pixels_size);
    status_of(error, || image_file::decode(data, pixels, &Ledger::new(leave)))
}

/// The samples of a sound, to be freed with `wasinn_media_sound_free`.
#[repr(C)]
pub struct Sound {
    samples: *mut f32,
    count: usize,
}

/// # Safety
/// `data` has `size` bytes.
#[no_mangle]
pub unsafe extern "C" fn wasinn_media_sound(
    data: *const u8,
    size: usize,
    rate: u32,
    leave: Leave,
    sound: &mut Sound,
    error: &mut Text,
) -> c_int {
    let data = std::slice::from_raw_parts(data, size);
    *sound = Sound { samples: std::ptr::null_mut(), count: 0 };
    status_of(error, || {
        let samples = sound_file::decode(data, rate, &Ledger::new(leave))?.into_boxed_slice();
        sound.count = samples.len();
        sound.samples = Box::into_raw(samples).cast();
        Ok(())
    })
}

/// # Safety
/// `sound` is what `wasinn_media_sound` wrote.
#[no_mangle]
pub unsafe extern "C" fn wasinn_media_sound_free(sound: &mut Sound) {
    if !sound.samples.is_null() {
        drop(Box::from_raw(std::ptr::slice_from_raw_parts_mut(sound.samples, sound.count)));
    }
    sound.samples = std::ptr::null_mut();
}
