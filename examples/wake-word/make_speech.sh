#!/usr/bin/env bash
# Makes a sound file for the wake-word example: make_speech.sh OUT.wav
# espeak-ng says the words, and other things; the result is 16 kHz, one channel, 16 bits. It needs Debian's espeak-ng and
# python3 (standard library only).
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

espeak-ng -v en-us -s 150 -w "$parts/1.wav" "Nobody is meant."
espeak-ng -v en-us -s 140 -w "$parts/2.wav" "Hey Jarvis!"
espeak-ng -v en-gb -s 150 -w "$parts/3.wav" "Neither is anybody here."

python3 "$here/../voice/resample.py" "$1" "$parts/1.wav" 0.8 "$parts/2.wav" 1.2 "$parts/3.wav" 0.5
