//! A WebP file declares the size of its picture, and so does each lossy stream in it. The decoder only compares them
//! after it has decoded the stream, which can have many times the declared number of pixels.

const HEAD: usize = 8; // of a chunk: its name and size

/// The name of the chunk at a position, the range of its contents, and the position of the next chunk.
fn chunk(data: &[u8], at: usize) -> Option<(&[u8], usize, usize)> {
    let head = data.get(at..at.checked_add(HEAD)?)?;
    let size = u32::from_le_bytes(head[4..].try_into().ok()?) as usize;
    Some((&head[..4], at + HEAD, at + HEAD + size + size % 2))
}

/// Width and height of the lossy stream at a position.
fn size_of_stream(data: &[u8], at: usize) -> Option<(u32, u32)> {
    let head = data.get(at..at.checked_add(10)?)?;
    let side = |low: u8, high: u8| u32::from(u16::from_le_bytes([low, high]) & 0x3fff);
    Some((side(head[6], head[7]), side(head[8], head[9])))
}

/// About the first picture of an animation. A stream follows the alpha chunk, whatever its chunk is called.
fn size_in_frame(data: &[u8], frame: usize) -> Option<(u32, u32)> {
    let (name, at, next) = chunk(data, frame + 16)?;
    match name {
        b"VP8 " => size_of_stream(data, at),
        b"ALPH" => size_of_stream(data, chunk(data, next)?.1),
        _ => None,
    }
}

/// Whether each lossy stream that the decoder could choose has at most this size.
pub fn streams_fit(data: &[u8], width: u32, height: u32) -> bool {
    if !data.starts_with(b"RIFF") {
        return true;
    }
    let fits = |size: Option<(u32, u32)>| size.is_none_or(|(w, h)| w <= width && h <= height);
    let mut at = 12;
    while let Some((name, contents, next)) = chunk(data, at) {
        let fit = match name {
            b"VP8 " => fits(size_of_stream(data, contents)),
            b"ANMF" => fits(size_in_frame(data, contents)),
            _ => true,
        };
        if !fit {
            return false;
        }
        at = next;
    }
    true
}
