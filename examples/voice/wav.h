// Reads the sound files of the voice detector.
#ifndef WASINN_EXAMPLES_VOICE_WAV_H_
#define WASINN_EXAMPLES_VOICE_WAV_H_

#include <string>
#include <vector>

constexpr int kSampleRate = 16000;

// Reads a WAV file of 16 kHz, one channel and 16 bits into *samples, each -1 up to 1 (the 16-bit number / 32768). On
// failure returns false and says why in *error.
bool ReadWav(const char* path, std::vector<float>* samples, std::string* error);

#endif  // WASINN_EXAMPLES_VOICE_WAV_H_
