//! Reduces sound files to their sound. Readers of the other parts (titles, pictures, marks) allocate as the lengths in
//! the file say, up to 4 GB for a file of a few bytes, and if that fails the OS process ends.

use crate::Fault;

pub enum Kind {
    Wav,
    Flac,
    Mp3,
}

/// A file that only has what is needed to decode it.
pub struct Plain {
    pub kind: Kind,
    pub head: Vec<u8>,
    pub body: std::ops::Range<usize>, // of the file, behind the head
}

fn four(data: &[u8], at: usize) -> Option<[u8; 4]> {
    data.get(at..at.checked_add(4)?)?.try_into().ok()
}

/// The position at which the sound begins after ID3 tags, of which there can be several.
fn behind_titles(data: &[u8]) -> usize {
    let mut at = 0;
    while let Some(head) = data.get(at..at + 10).filter(|head| head.starts_with(b"ID3")) {
        let size = head[6..].iter().fold(0, |size, byte| size << 7 | usize::from(byte & 0x7f));
        let has_end = head[5] & 0x10 != 0;
        at += 10 + size + if has_end { 10 } else { 0 };
    }
    at.min(data.len())
}

/// The format of a RIFF file, and the position of its samples.
fn wav(data: &[u8], from: usize) -> Option<Plain> {
    const LONGEST_FORMAT: usize = 64;
    let mut format = None;
    let mut at = from + 12;
    loop {
        let (name, size) = (four(data, at)?, u32::from_le_bytes(four(data, at + 4)?) as usize);
        let contents = at + 8;
        if &name == b"fmt " && format.is_none() {
            format = Some(data.get(contents..contents + size.min(LONGEST_FORMAT))?);
        }
        if &name == b"data" {
            let (format, body) = (format?, contents..data.len().min(contents + size));
            let sizes = [format.len(), body.len()].map(|size| u32::try_from(size).ok());
            let whole = u32::try_from(4 + 8 + format.len() + format.len() % 2 + 8 + body.len()).ok()?;
            let mut head = [*b"RIFF", whole.to_le_bytes(), *b"WAVE", *b"fmt ", sizes[0]?.to_le_bytes()].concat();
            head.extend_from_slice(format);
            head.resize(head.len() + format.len() % 2, 0);
            head.extend_from_slice(b"data");
            head.extend_from_slice(&sizes[1]?.to_le_bytes());
            return Some(Plain { kind: Kind::Wav, head, body });
        }
        at = contents + size + size % 2;
    }
}

/// The block of a FLAC file about its stream, and the position at which its frames begin.
fn flac(data: &[u8], from: usize) -> Option<Plain> {
    const STREAM: usize = 34;
    let mut head = Vec::new();
    let mut at = from + 4;
    loop {
        let [kind, size @ ..] = four(data, at)?;
        let size = size.iter().fold(0, |size, byte| size << 8 | usize::from(*byte));
        at += 4;
        if kind & 0x7f == 0 && size == STREAM && head.is_empty() {
            // The last block, of so many bytes.
            head = [b"fLaC\x80\0\0\x22".as_slice(), data.get(at..at + STREAM)?].concat();
        }
        at += size;
        if kind & 0x80 != 0 {
            break;
        }
    }
    let body = at.min(data.len())..data.len();
    (!head.is_empty()).then_some(Plain { kind: Kind::Flac, head, body })
}

pub fn plain(data: &[u8]) -> Result<Plain, Fault> {
    let from = behind_titles(data);
    let broken = |what| Fault::wrong(format!("it is a broken {what} file"));
    let marks = (four(data, from), four(data, from + 8));
    if marks == (Some(*b"RIFF"), Some(*b"WAVE")) {
        return wav(data, from).ok_or_else(|| broken("WAV"));
    }
    if marks.0 == Some(*b"fLaC") {
        return flac(data, from).ok_or_else(|| broken("FLAC"));
    }
    Ok(Plain { kind: Kind::Mp3, head: Vec::new(), body: from..data.len() })
}
