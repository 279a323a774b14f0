// A Silero voice detector, in the form that the host has.
#ifndef WASINN_EXAMPLES_VOICE_DETECTOR_H_
#define WASINN_EXAMPLES_VOICE_DETECTOR_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "speech.h"
#include "wasi_nn.hpp"

// The models of the Python package silero-vad take, by name and in any order:
//   input or x      float32 [1, 576]              the last 64 samples of the chunk before, then a chunk of 512
//   sr              int64 scalar                  the sample rate; those for 16 kHz alone do not ask for it
//   state, or h, c  float32 [2, 1, 128], or halves  zeros at first, then what the last inference gave
// and give:
//   output or speech_probs (the first output)     the probability of speech in the chunk
//   stateN, or hn, cn                             the next state
// The TorchScript model keeps its state in itself, and the 64 samples too.
class Detector {
 public:
  // Loads a model of the host by its name. On failure it returns the status, and sets `call` to the failed call.
  wasi_nn::Status Open(const std::string& model, std::string* call);
  // The probability of speech in the next chunk of samples.
  wasi_nn::Status Hear(std::span<const float, kChunk> chunk, float* probability, std::string* call);

 private:
  struct State {
    const char* input;
    const char* output;
    std::vector<uint32_t> dims;
    std::vector<float> values;
  };

  wasi_nn::Status Set(const char* input, const wasi_nn_tensor& tensor) const;
  wasi_nn::Status KeepStates(std::string* call);

  wasi_nn::Context context_;
  std::vector<State> states_;  // those that the caller has to keep
  const char* sound_ = "";
  std::vector<float> window_, probability_;
};

#endif  // WASINN_EXAMPLES_VOICE_DETECTOR_H_
