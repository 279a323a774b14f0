// Hears wake words as the Python package openwakeword 0.4.0 does: three models in a row, for each 80 ms of sound.
#ifndef WASINN_EXAMPLES_WAKE_WORD_LISTENER_H_
#define WASINN_EXAMPLES_WAKE_WORD_LISTENER_H_

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "wasi_nn.hpp"

constexpr size_t kFrame = 1280;  // samples, 80 ms

// The models, and what goes through them. openwakeword scales sound as 16-bit numbers, in float32.
//
//   melspectrogram  [1, samples]      -> [1, 1, frames, 32], a frame for each 10 ms; x / 10 + 2 of them goes on
//   embedding       [n, 76, 32, 1]    -> [n, 1, 1, 96], of windows of 76 frames, one each 8 frames
//   a wake word     [1, 16, 96]       -> [1, 1], a score from 0 to 1
//
// Each call leaves in `call` what it did last, for messages.
class Listener {
 public:
  virtual ~Listener() = default;
  // The score of the next 80 ms.
  virtual wasi_nn::Status Hear(std::span<const float, kFrame> samples, float* score) = 0;
  const std::string& call() const { return call_; }

 protected:
  static constexpr size_t kOverlap = 480;  // samples that a frame's spectrum needs from before
  static constexpr size_t kBins = 32, kWindow = 76, kStep = 8, kEmbedding = 96, kEmbeddings = 16;

  wasi_nn::Status Open(const std::string& model, wasi_nn::Context* context);
  // The first embeddings, as in the package: the last ones of ten seconds of silence.
  wasi_nn::Status EmbedSilence(wasi_nn::Context& mel, wasi_nn::Context& embedding);
  wasi_nn::Status ComputeMel(wasi_nn::Context& mel, const std::vector<float>& samples, std::vector<float>* frames);
  wasi_nn::Status Embed(wasi_nn::Context& embedding, const std::vector<float>& windows, std::vector<float>* out);
  // The samples of which a frame's spectrum is computed.
  const std::vector<float>& Buffered(std::span<const float, kFrame> samples);
  wasi_nn::Status Did(const char* call, wasi_nn::Status status);

  std::vector<float> features_;  // the last 16 embeddings

 private:
  std::vector<float> sound_;
  std::string call_;
};

// Computes one model after the other, and holds what lies between.
class ListenerByModels : public Listener {
 public:
  wasi_nn::Status Open(const std::string& word);
  wasi_nn::Status Hear(std::span<const float, kFrame> samples, float* score) override;

 private:
  wasi_nn::Context mel_, embedding_, word_;
  std::vector<float> frames_ = std::vector<float>(kWindow * kBins, 1.0f);  // the last 76
  std::vector<float> new_frames_, new_embedding_, score_;
};

// The same as one pipeline of the host's, whose state goes from its outputs to its inputs without coming here.
class ListenerByPipeline : public Listener {
 public:
  wasi_nn::Status Open(const std::string& pipeline);
  wasi_nn::Status Hear(std::span<const float, kFrame> samples, float* score) override;

 private:
  wasi_nn::Context wake_;
  bool has_state_ = false;
  std::vector<float> score_;
};

#endif  // WASINN_EXAMPLES_WAKE_WORD_LISTENER_H_
