#!/usr/bin/env bash
# Makes a sound file for the voice example: make_speech.sh OUT.wav
# espeak-ng speaks four sentences, with pauses between them; the result is 16 kHz, one channel, 16 bits. It needs
# Debian's espeak-ng and python3 (standard library only).
set -euo pipefail

if [ $# -ne 1 ]; then
  echo "usage: $0 OUT.wav" >&2
  exit 2
fi
for tool in espeak-ng python3; do
  if ! command -v "$tool" >/dev/null; then
    echo "$0: $tool is missing: apt-get install $tool" >&2
    exit 1
  fi
done

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
parts=$(mktemp -d)
trap 'rm -rf "$parts"' EXIT

# speak NAME VOICE TEXT
speak() {
  espeak-ng -v "$2" -s 150 -w "$parts/$1.wav" "$3"
}

# Silence first, so that the file does not begin with speech.
espeak-ng -v en -w "$parts/silence.wav" " "
speak 1 en-us "Good morning. This program runs in a sandbox."
speak 2 en-gb "It hears me through a model that the host computes."
speak 3 de "Zwischen den Sätzen ist es still."
speak 4 en-us "And now it is quiet again."

python3 "$here/resample.py" "$1" \
  "$parts/silence.wav" 1.0 "$parts/1.wav" 1.2 "$parts/2.wav" 0.8 "$parts/3.wav" 1.5 "$parts/4.wav" 1.0
