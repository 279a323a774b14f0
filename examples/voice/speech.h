// Turns the probability of speech in each chunk into stretches of speech.
#ifndef WASINN_EXAMPLES_VOICE_SPEECH_H_
#define WASINN_EXAMPLES_VOICE_SPEECH_H_

#include <cstddef>
#include <vector>

constexpr size_t kChunk = 512;  // samples, 32 ms

// A stretch of speech: samples [begin, end).
struct Speech {
  size_t begin;
  size_t end;
};

// The same as the package's get_speech_timestamps with its default settings. Speech begins with a chunk whose
// probability is 0.5 or more; it ends if the probability falls below 0.35 and does not reach 0.5 again for 100 ms.
// Stretches of 250 ms or less are dropped, and the others get 30 ms more at both ends, as far as there is room.
std::vector<Speech> FindSpeech(const std::vector<float>& probabilities, size_t samples);

#endif  // WASINN_EXAMPLES_VOICE_SPEECH_H_
