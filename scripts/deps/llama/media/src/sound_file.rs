//! WAV, MP3 and FLAC, as the samples of one channel at the rate that a model wants.

use std::io::{Cursor, ErrorKind};

use rubato::{Resampler, SincFixedIn, SincInterpolationParameters, SincInterpolationType, WindowFunction};
use symphonia::core::audio::SampleBuffer;
use symphonia::core::codecs::{Decoder, DecoderOptions};
use symphonia::core::errors::Error;
use symphonia::core::formats::{FormatOptions, FormatReader};
use symphonia::core::io::MediaSourceStream;
use symphonia::core::meta::{Limit, MetadataOptions};
use symphonia::core::probe::Hint;

use crate::{Fault, Leave};

const LONGEST_SECONDS: u64 = 10 * 60;
const FASTEST: u32 = 192_000;
const KEPT_OF_METADATA: usize = 64 << 10;
/// Parts of a second that a sound must have at least.
const SHORTEST: u32 = 100;

fn fault(error: Error) -> Fault {
    Fault::wrong(format!("it is no WAV, MP3 or FLAC that can be read: {error}"))
}

fn open(data: &[u8]) -> Result<(Box<dyn FormatReader>, Box<dyn Decoder>), Fault> {
    let source = MediaSourceStream::new(Box::new(Cursor::new(data.to_vec())), Default::default());
    let metadata = MetadataOptions {
        limit_metadata_bytes: Limit::Maximum(KEPT_OF_METADATA),
        limit_visual_bytes: Limit::Maximum(KEPT_OF_METADATA),
    };
    let probed = symphonia::default::get_probe()
        .format(&Hint::new(), source, &FormatOptions::default(), &metadata)
        .map_err(fault)?;
    let track = probed.format.default_track().ok_or_else(|| Fault::wrong("it has no sound"))?;
    let decoder =
        symphonia::default::get_codecs().make(&track.codec_params, &DecoderOptions::default()).map_err(fault)?;
    Ok((probed.format, decoder))
}

/// The samples of all channels as one, and their rate.
fn read(data: &[u8], leave: Leave) -> Result<(Vec<f32>, u32), Fault> {
    leave.take(data.len() as u64)?;
    let (mut format, mut decoder) = open(data)?;
    let (mut mono, mut rate) = (Vec::new(), 0);
    loop {
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
        if rate == 0 || rate > FASTEST {
            return Err(Fault::wrong(format!("{rate} samples per second: expected 1 to {FASTEST}")));
        }
        let channels = spec.channels.count().max(1);
        leave.take((decoded.frames() * size_of::<f32>()) as u64)?;
        let mut samples = SampleBuffer::<f32>::new(decoded.capacity() as u64, spec);
        samples.copy_interleaved_ref(decoded);
        mono.extend(samples.samples().chunks_exact(channels).map(|frame| frame.iter().sum::<f32>() / channels as f32));
        if mono.len() as u64 > LONGEST_SECONDS * u64::from(rate) {
            return Err(Fault::TooMuch(format!("it is longer than {LONGEST_SECONDS} seconds")));
        }
    }
    Ok((mono, rate))
}

fn resample(samples: &[f32], from: u32, to: u32, leave: Leave) -> Result<Vec<f32>, Fault> {
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
    leave.take((wanted * size_of::<f32>()) as u64)?;
    let mut resampler = SincFixedIn::<f32>::new(ratio, 1.0, parameters, CHUNK, 1).map_err(Fault::wrong)?;
    let delay = resampler.output_delay();
    let mut result = Vec::with_capacity(wanted + delay);
    let mut chunks = samples.chunks(CHUNK);
    while result.len() < wanted + delay {
        leave.take(0)?;
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

pub fn decode(data: &[u8], rate: u32, leave: Leave) -> Result<Vec<f32>, Fault> {
    let (samples, from) = read(data, leave)?;
    if samples.len() < (from / SHORTEST).max(1) as usize {
        return Err(Fault::wrong("it has no sound, or less than a hundredth of a second"));
    }
    if from == rate {
        return Ok(samples);
    }
    resample(&samples, from, rate, leave)
}
