//! WAV, MP3 and FLAC, as the samples of one channel at the rate that a model wants.

use std::io::{Cursor, ErrorKind};

use rubato::{Resampler, SincFixedIn, SincInterpolationParameters, SincInterpolationType, WindowFunction};
use symphonia::core::audio::SampleBuffer;
use symphonia::core::codecs::{Decoder, DecoderOptions};
use symphonia::core::errors::Error;
use symphonia::core::formats::{FormatOptions, FormatReader};
use symphonia::core::io::MediaSourceStream;
use symphonia::default::formats::{FlacReader, MpaReader, WavReader};

use crate::counted::Ledger;
use crate::sound_container::{plain, Kind};
use crate::Fault;

const LONGEST_SECONDS: u64 = 10 * 60;
/// Samples per second. A sound with fewer is not taken, because it would be resampled to thousands of samples for each
/// of its own.
const SLOWEST: u32 = 1_000;
const FASTEST: u32 = 192_000;
/// The minimum length of a sound, as parts of a second.
const SHORTEST: u32 = 100;

fn fault(error: Error) -> Fault {
    Fault::wrong(format!("it is no WAV, MP3 or FLAC that can be read: {error}"))
}

fn open(data: &[u8], ledger: &Ledger) -> Result<(Box<dyn FormatReader>, Box<dyn Decoder>), Fault> {
    let file = plain(data)?;
    ledger.ask((file.head.len() + file.body.len()) as u64)?;
    let sound = [&file.head, &data[file.body]].concat();
    let source = MediaSourceStream::new(Box::new(Cursor::new(sound)), Default::default());
    let options = FormatOptions::default();
    let reader: Box<dyn FormatReader> = match file.kind {
        Kind::Wav => Box::new(WavReader::try_new(source, &options).map_err(fault)?),
        Kind::Flac => Box::new(FlacReader::try_new(source, &options).map_err(fault)?),
        Kind::Mp3 => Box::new(MpaReader::try_new(source, &options).map_err(fault)?),
    };
    let track = reader.default_track().ok_or_else(|| Fault::wrong("it has no sound"))?;
    let decoder =
        symphonia::default::get_codecs().make(&track.codec_params, &DecoderOptions::default()).map_err(fault)?;
    Ok((reader, decoder))
}

/// Room for so many more, after asking for permission.
fn reserve(samples: &mut Vec<f32>, more: usize, ledger: &Ledger) -> Result<(), Fault> {
    let needed = samples.len() + more;
    if needed <= samples.capacity() {
        return ledger.ask(0);
    }
    ledger.ask(2 * (needed * size_of::<f32>()) as u64)?;
    samples
        .try_reserve_exact(needed.max(2 * samples.len()) - samples.len())
        .map_err(|what| Fault::TooMuch(what.to_string()))
}

/// The samples of all channels mixed into one, and their rate.
fn read(data: &[u8], ledger: &Ledger) -> Result<(Vec<f32>, u32), Fault> {
    let (mut format, mut decoder) = open(data, ledger)?;
    let (mut mono, mut rate) = (Vec::new(), 0);
    loop {
        ledger.ask(0)?;
        let packet = match format.next_packet() {
            Ok(packet) => packet,
            Err(Error::IoError(error)) if error.kind() == ErrorKind::UnexpectedEof => break,
            Err(error) => return Err(fault(error)),
        };
        let decoded = match decoder.decode(&packet) {
            Ok(decoded) => decoded,
            Err(Error::DecodeError(_)) => continue, // one packet, as at the beginning of an MP3 that was cut out of another
            Err(error) => return Err(fault(error)),
        };
        let spec = *decoded.spec();
        if rate != 0 && rate != spec.rate {
            return Err(Fault::wrong("its rate changes"));
        }
        rate = spec.rate;
        if !(SLOWEST..=FASTEST).contains(&rate) {
            return Err(Fault::wrong(format!("{rate} samples per second: expected {SLOWEST} to {FASTEST}")));
        }
        let channels = spec.channels.count().max(1);
        reserve(&mut mono, decoded.frames(), ledger)?;
        let mut samples = SampleBuffer::<f32>::new(decoded.capacity() as u64, spec);
        samples.copy_interleaved_ref(decoded);
        mono.extend(samples.samples().chunks_exact(channels).map(|frame| frame.iter().sum::<f32>() / channels as f32));
        if mono.len() as u64 > LONGEST_SECONDS * u64::from(rate) {
            return Err(Fault::TooMuch(format!("it is longer than {LONGEST_SECONDS} seconds")));
        }
    }
    Ok((mono, rate))
}

fn resample(samples: &[f32], from: u32, to: u32, ledger: &Ledger) -> Result<Vec<f32>, Fault> {
    const CHUNK: usize = 4096;
    let parameters = SincInterpolationParameters {
        sinc_len: 128,
        f_cutoff: 0.95,
        oversampling_factor: 128,
        interpolation: SincInterpolationType::Linear,
        window: WindowFunction::BlackmanHarris2,
    };
    let ratio = f64::from(to) / f64::from(from);
    let wanted = (samples.len() as f64 * ratio).ceil() as usize;
    ledger.ask((wanted * size_of::<f32>()) as u64)?;
    let mut resampler = SincFixedIn::<f32>::new(ratio, 1.0, parameters, CHUNK, 1).map_err(Fault::wrong)?;
    let delay = resampler.output_delay();
    let mut result = Vec::with_capacity(wanted + delay);
    let mut chunks = samples.chunks(CHUNK);
    while result.len() < wanted + delay {
        ledger.ask(0)?;
        let part = match chunks.next() {
            Some(chunk) if chunk.len() == CHUNK => resampler.process(&[chunk], None),
            Some(chunk) => resampler.process_partial(Some(&[chunk]), None),
            None => resampler.process_partial::<&[f32]>(None, None),
        };
        result.extend_from_slice(&part.map_err(Fault::wrong)?[0]);
    }
    result.drain(..delay);
    result.truncate(wanted);
    Ok(result)
}

pub fn decode(data: &[u8], rate: u32, ledger: &Ledger) -> Result<Vec<f32>, Fault> {
    let (samples, from) = read(data, ledger)?;
    if samples.len() < (from / SHORTEST).max(1) as usize {
        return Err(Fault::wrong("it has no sound, or less than a hundredth of a second"));
    }
    if from == rate {
        return Ok(samples);
    }
    resample(&samples, from, rate, ledger)
}
