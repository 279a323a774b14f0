#include "listener.h"

#include <algorithm>

#include "wasi_nn_ext.hpp"

namespace {

constexpr size_t kSilence = 160000;  // samples

// Inputs and outputs of the pipeline, in the order in which its settings list them.
enum : uint32_t { kAudio = 0, kMelHistory = 1, kHistory = 2, kScore = 0, kNextMelHistory = 1, kNextHistory = 2 };

// Drops samples that are older than the last `size`.
void KeepLast(std::vector<float>* values, size_t size) {
  if (values->size() > size) values->erase(values->begin(), values->end() - static_cast<ptrdiff_t>(size));
}

}  // namespace

wasi_nn::Status Listener::Did(const char* call, wasi_nn::Status status) {
  call_ = call;
  return status;
}

wasi_nn::Status Listener::Open(const std::string& model, wasi_nn::Context* context) {
  wasi_nn::Graph graph;
  call_ = "load_by_name " + model;
  if (wasi_nn::Status s = graph.load_by_name(model); !s) return s;
  call_ = "init_execution_context " + model;
  return context->init(graph);
}

const std::vector<float>& Listener::Buffered(std::span<const float, kFrame> samples) {
  sound_.insert(sound_.end(), samples.begin(), samples.end());
  KeepLast(&sound_, kOverlap + kFrame);
  return sound_;
}

wasi_nn::Status Listener::ComputeMel(wasi_nn::Context& mel, const std::vector<float>& samples,
                                     std::vector<float>* frames) {
  call_ = "melspectrogram";
  if (wasi_nn::Status s = mel.set_input(0, samples, {1, static_cast<uint32_t>(samples.size())}); !s) return s;
  if (wasi_nn::Status s = mel.compute(); !s) return s;
  if (wasi_nn::Status s = mel.get_output(0, *frames); !s) return s;
  for (float& value : *frames) value = value / 10.0f + 2.0f;
  return {};
}

wasi_nn::Status Listener::Embed(wasi_nn::Context& embedding, const std::vector<float>& windows,
                                std::vector<float>* out) {
  call_ = "embedding";
  const auto n = static_cast<uint32_t>(windows.size() / (kWindow * kBins));
  if (wasi_nn::Status s = embedding.set_input(0, windows, {n, kWindow, kBins, 1}); !s) return s;
  if (wasi_nn::Status s = embedding.compute(); !s) return s;
  if (wasi_nn::Status s = embedding.get_output(0, *out); !s) return s;
  return out->size() == n * kEmbedding ? WASI_NN_SUCCESS : WASI_NN_INVALID_ARGUMENT;
}

wasi_nn::Status Listener::EmbedSilence(wasi_nn::Context& mel, wasi_nn::Context& embedding) {
  std::vector<float> frames, windows;
  if (wasi_nn::Status s = ComputeMel(mel, std::vector<float>(kSilence), &frames); !s) return s;
  for (size_t at = 0; at + kWindow * kBins <= frames.size(); at += kStep * kBins) {
    const auto begin = frames.begin() + static_cast<ptrdiff_t>(at);
    windows.insert(windows.end(), begin, begin + kWindow * kBins);
  }
  if (wasi_nn::Status s = Embed(embedding, windows, &features_); !s) return s;
  KeepLast(&features_, kEmbeddings * kEmbedding);
  return {};
}

wasi_nn::Status ListenerByModels::Open(const std::string& word) {
  if (wasi_nn::Status s = Listener::Open("melspectrogram", &mel_); !s) return s;
  if (wasi_nn::Status s = Listener::Open("embedding", &embedding_); !s) return s;
  if (wasi_nn::Status s = Listener::Open(word, &word_); !s) return s;
  return EmbedSilence(mel_, embedding_);
}

wasi_nn::Status ListenerByModels::Hear(std::span<const float, kFrame> samples, float* score) {
  if (wasi_nn::Status s = ComputeMel(mel_, Buffered(samples), &new_frames_); !s) return s;
  frames_.insert(frames_.end(), new_frames_.begin(), new_frames_.end());
  KeepLast(&frames_, kWindow * kBins);
  if (wasi_nn::Status s = Embed(embedding_, frames_, &new_embedding_); !s) return s;
  features_.insert(features_.end(), new_embedding_.begin(), new_embedding_.end());
  KeepLast(&features_, kEmbeddings * kEmbedding);
  if (wasi_nn::Status s =
          Did("set_input of the wake word", word_.set_input(0, features_, {1, kEmbeddings, kEmbedding}));
      !s) {
    return s;
  }
  if (wasi_nn::Status s = Did("compute of the wake word", word_.compute()); !s) return s;
  if (wasi_nn::Status s = Did("get_output of the wake word", word_.get_output(0, score_)); !s) return s;
  if (score_.size() != 1) return WASI_NN_INVALID_ARGUMENT;
  *score = score_[0];
  return {};
}

wasi_nn::Status ListenerByPipeline::Open(const std::string& pipeline) {
  wasi_nn::Context mel, embedding;
  if (wasi_nn::Status s = Listener::Open("melspectrogram", &mel); !s) return s;
  if (wasi_nn::Status s = Listener::Open("embedding", &embedding); !s) return s;
  if (wasi_nn::Status s = EmbedSilence(mel, embedding); !s) return s;
  if (wasi_nn::Status s = Listener::Open(pipeline, &wake_); !s) return s;
  const std::vector<float> frames(kWindow * kBins, 1.0f);
  if (wasi_nn::Status s = Did("set_input mel_history", wake_.set_input(kMelHistory, frames, {kWindow, kBins})); !s) {
    return s;
  }
  return Did("set_input history", wake_.set_input(kHistory, features_, {kEmbeddings, kEmbedding}));
}

wasi_nn::Status ListenerByPipeline::Hear(std::span<const float, kFrame> samples, float* score) {
  const std::vector<float>& sound = Buffered(samples);
  if (wasi_nn::Status s =
          Did("set_input audio", wake_.set_input(kAudio, sound, {1, static_cast<uint32_t>(sound.size())}));
      !s) {
    return s;
  }
  for (const auto& [input, output] : {std::pair{kMelHistory, kNextMelHistory}, std::pair{kHistory, kNextHistory}}) {
    if (!has_state_) continue;
    if (wasi_nn::Status s = Did("set_input_from_output", wasi_nn::set_input_from_output(wake_, input, wake_, output));
        !s) {
      return s;
    }
  }
  if (wasi_nn::Status s = Did("compute of the pipeline", wake_.compute()); !s) return s;
  has_state_ = true;
  if (wasi_nn::Status s = Did("get_output score", wake_.get_output(kScore, score_)); !s) return s;
  if (score_.size() != 1) return WASI_NN_INVALID_ARGUMENT;
  *score = score_[0];
  return {};
}
