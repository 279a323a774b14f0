"""Joins WAV files with pauses between them into one of 16 kHz: resample.py OUT.wav IN.wav PAUSE [IN.wav PAUSE ...]

PAUSE is in seconds and follows its file. All files have 16-bit samples, one channel and the same rate. Standard library
only, and no random numbers: the same input gives the same bytes.
"""

import array
import math
import sys
import wave

RATE = 16000
LOBES = 12  # of the sinc on each side


def read(path):
    with wave.open(path, "rb") as sound:
        assert (sound.getnchannels(), sound.getsampwidth()) == (1, 2), path
        samples = array.array("h", sound.readframes(sound.getnframes()))
        if sys.byteorder == "big":
            samples.byteswap()
        return sound.getframerate(), samples


def filters(rate):
    """For each phase of an output sample between two input samples: a windowed sinc that lets through what both rates
    can hold."""
    phases = RATE // math.gcd(rate, RATE)
    cutoff = min(1.0, RATE / rate) * 0.95
    reach = math.ceil(LOBES / cutoff)
    result = []
    for phase in range(phases):
        taps = []
        for k in range(-reach + 1, reach + 1):
            t = k - phase / phases
            x = math.pi * t * cutoff
            sinc = 1.0 if x == 0 else math.sin(x) / x
            window = 0.5 + 0.5 * math.cos(math.pi * t / reach) if abs(t) < reach else 0.0
            taps.append(sinc * window)
        total = sum(taps)
        result.append([tap / total for tap in taps])
    return reach, result


def resample(samples, rate):
    if rate == RATE:
        return samples
    reach, phases = filters(rate)
    padded = [0] * reach + samples.tolist() + [0] * (reach + 1)
    result = array.array("h")
    for i in range(len(samples) * RATE // rate):
        whole, rest = divmod(i * rate, RATE)
        taps = phases[rest * len(phases) // RATE]
        window = padded[whole + 1 : whole + 1 + 2 * reach]
        value = round(sum(map(float.__mul__, taps, map(float, window))))
        result.append(max(-32768, min(32767, value)))
    return result


def main():
    if len(sys.argv) < 4 or len(sys.argv) % 2 != 0:
        sys.exit(__doc__.splitlines()[0])
    joined = array.array("h")
    for path, pause in zip(sys.argv[2::2], sys.argv[3::2]):
        rate, samples = read(path)
        joined.extend(resample(samples, rate))
        joined.extend([0] * round(float(pause) * RATE))
    if sys.byteorder == "big":
        joined.byteswap()
    with wave.open(sys.argv[1], "wb") as out:
        out.setnchannels(1)
        out.setsampwidth(2)
        out.setframerate(RATE)
        out.writeframes(joined.tobytes())


if __name__ == "__main__":
    main()
