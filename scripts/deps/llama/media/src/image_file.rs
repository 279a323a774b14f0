//! PNG, JPEG, WebP, GIF (its first picture) and BMP, as red, green and blue. As in llama.cpp's programs, transparency
//! and the orientation that a camera noted are ignored.

use std::io::{BufRead, Cursor, Read, Seek, SeekFrom};

use image::{DynamicImage, ImageDecoder, ImageError, ImageFormat, ImageReader, Limits};

use crate::counted::Ledger;
use crate::webp_file::streams_fit;
use crate::Fault;

const LARGEST_SIDE: u32 = 16384;
const MOST_PIXELS: u64 = 1 << 25;
/// A thin strip would get a width of 0 once it is made smaller.
const LONGEST_SHAPE: u32 = 200;

/// Asks before each block that a decoder reads. Some decoders read everything at once.
struct Asking<'a> {
    file: Cursor<&'a [u8]>,
    ledger: &'a Ledger,
}

impl Asking<'_> {
    fn ask(&self) -> std::io::Result<()> {
        self.ledger.ask(0).map_err(|_| std::io::Error::other("stopped"))
    }
}

impl Read for Asking<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        self.ask()?;
        self.file.read(buffer)
    }
}

const BLOCK: usize = 16 << 10;

impl BufRead for Asking<'_> {
    fn fill_buf(&mut self) -> std::io::Result<&[u8]> {
        self.ask()?;
        let block = self.file.fill_buf()?;
        Ok(&block[..block.len().min(BLOCK)])
    }
    fn consume(&mut self, amount: usize) {
        self.file.consume(amount);
    }
}

impl Seek for Asking<'_> {
    fn seek(&mut self, to: SeekFrom) -> std::io::Result<u64> {
        self.file.seek(to)
    }
}

fn fault(error: ImageError) -> Fault {
    match error {
        ImageError::Limits(what) => Fault::TooMuch(what.to_string()),
        other => Fault::wrong(other),
    }
}

fn open<'a, R: BufRead + Seek + 'a>(file: R, most: u64) -> Result<impl ImageDecoder + 'a, Fault> {
    let mut reader = ImageReader::new(file).with_guessed_format().map_err(Fault::wrong)?;
    use ImageFormat::{Bmp, Gif, Jpeg, Png, WebP};
    match reader.format() {
        Some(Bmp | Gif | Jpeg | Png | WebP) => {}
        _ => return Err(Fault::wrong("it is no PNG, JPEG, WebP, GIF or BMP")),
    }
    let mut limits = Limits::no_limits();
    limits.max_image_width = Some(LARGEST_SIDE);
    limits.max_image_height = Some(LARGEST_SIDE);
    limits.max_alloc = Some(most);
    reader.limits(limits);
    reader.into_decoder().map_err(fault)
}

/// Width, height, and the memory for decoding in addition to the result: the bytes per pixel of the file, and for each
/// component the two bytes in which a progressive JPEG is collected.
pub fn measure(data: &[u8], ledger: &Ledger) -> Result<(u32, u32, u64), Fault> {
    let decoder = open(Asking { file: Cursor::new(data), ledger }, 64 << 20)?;
    let (width, height) = decoder.dimensions();
    if width == 0 || height == 0 {
        return Err(Fault::wrong("it has no pixels"));
    }
    let (long, short) = (width.max(height), width.min(height));
    if long > LARGEST_SIDE || u64::from(width) * u64::from(height) > MOST_PIXELS || long / short > LONGEST_SHAPE {
        return Err(Fault::TooMuch(format!(
            "{width} x {height} pixels: expected at most {MOST_PIXELS}, sides of at most {LARGEST_SIDE}, and none {LONGEST_SHAPE} times as long as the other"
        )));
    }
    if !streams_fit(data, width, height) {
        return Err(Fault::TooMuch(format!("a picture in it has more than its {width} x {height} pixels")));
    }
    Ok((width, height, 4 * decoder.total_bytes() + data.len() as u64))
}

pub fn decode(data: &[u8], pixels: &mut [u8], ledger: &Ledger) -> Result<(), Fault> {
    let (_, _, work) = measure(data, ledger)?;
    ledger.ask(work)?;
    let decoder = open(Asking { file: Cursor::new(data), ledger }, work)?;
    let image = DynamicImage::from_decoder(decoder).map_err(|error| match ledger.ask(0) {
        Ok(()) => fault(error),
        Err(stopped) => stopped,
    })?;
    let rgb = image.into_rgb8();
    if rgb.as_raw().len() != pixels.len() {
        return Err(Fault::wrong("it has other pixels than it said"));
    }
    pixels.copy_from_slice(rgb.as_raw());
    Ok(())
}
