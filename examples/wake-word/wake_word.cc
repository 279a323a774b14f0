// Listens for a wake word in a sound file, with three models that run in the host, through wasi-nn.
//
//   wake_word.wasm [--word NAME | --pipeline NAME] [--raw] FILE.wav
//
// listener.h describes the models' inputs and outputs.

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "listener.h"
#include "wav.h"

namespace {

constexpr char kUsage[] =
    "usage: wake_word.wasm [options] FILE.wav\n"
    "  --word NAME      the model of the wake word (default: word); the host offers melspectrogram and embedding "
    "beside it\n"
    "  --pipeline NAME  all of them as one pipeline of the host's\n"
    "  --raw            print each score only, as the hex digits of its 32 bits\n"
    "FILE.wav has 16-bit samples, one channel, 16 kHz; the host must open its folder (--dir).\n";

struct Options {
  std::string word = "word";
  std::string pipeline;
  const char* file = nullptr;
  bool raw = false;
};

bool ParseOptions(int argc, char** argv, Options* options) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view arg = argv[i];
    if (arg == "--raw") {
      options->raw = true;
    } else if (arg == "--word" && i + 1 < argc) {
      options->word = argv[++i];
    } else if (arg == "--pipeline" && i + 1 < argc) {
      options->pipeline = argv[++i];
    } else if (arg.substr(0, 2) == "--" || options->file != nullptr) {
      std::fprintf(stderr, "wake_word: cannot make sense of %s\n%s", argv[i], kUsage);
      return false;
    } else {
      options->file = argv[i];
    }
  }
  if (options->file == nullptr) std::fputs(kUsage, stderr);
  return options->file != nullptr;
}

// Like the package's predict_clip: a second of silence before and after, and no output for the first frames.
bool Listen(Listener& listener, std::vector<float> samples, std::vector<float>* scores) {
  constexpr size_t kPadding = kSampleRate, kUnsaid = 5;
  for (float& sample : samples) sample *= 32768.0f;
  samples.insert(samples.begin(), kPadding, 0.0f);
  samples.resize(samples.size() + kPadding);
  for (size_t at = 0; at + kFrame < samples.size(); at += kFrame) {
    float score = 0;
    const std::span<const float, kFrame> frame(samples.data() + at, kFrame);
    if (wasi_nn::Status s = listener.Hear(frame, &score); !s) {
      std::fprintf(stderr, "wake_word: %s: %s\n", listener.call().c_str(), std::string(s.name()).c_str());
      return false;
    }
    scores->push_back(scores->size() < kUnsaid ? 0.0f : score);
  }
  return true;
}

template <typename SomeListener>
std::unique_ptr<Listener> Open(const std::string& name) {
  auto listener = std::make_unique<SomeListener>();
  const wasi_nn::Status s = listener->Open(name);
  if (s) return listener;
  std::fprintf(stderr, "wake_word: %s: %s\n", listener->call().c_str(), std::string(s.name()).c_str());
  return nullptr;
}

void PrintRaw(const std::vector<float>& scores) {
  for (const float score : scores) {
    uint32_t bits = 0;
    std::memcpy(&bits, &score, sizeof(bits));
    std::printf("%08x\n", static_cast<unsigned>(bits));
  }
}

// The time is that of the frame's end in the file.
void Print(const std::vector<float>& scores) {
  for (size_t i = 0; i < scores.size(); ++i) {
    const double seconds = static_cast<double>((i + 1) * kFrame) / kSampleRate - 1;
    const int bars = static_cast<int>(scores[i] * 40.0f);
    std::printf("%7.2f s  %.6f  %s\n", seconds, static_cast<double>(scores[i]), std::string(bars, '#').c_str());
  }
  const auto most = std::ranges::max_element(scores);
  if (most == scores.end()) return;
  std::printf("\nthe word was %s: the highest score is %.3f\n", *most >= 0.5f ? "heard" : "not heard",
              static_cast<double>(*most));
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  if (!ParseOptions(argc, argv, &options)) return 2;
  std::vector<float> samples, scores;
  std::string error;
  if (!ReadWav(options.file, &samples, &error)) {
    std::fprintf(stderr, "wake_word: %s: %s\n", options.file, error.c_str());
    return 1;
  }
  const std::unique_ptr<Listener> listener =
      options.pipeline.empty() ? Open<ListenerByModels>(options.word) : Open<ListenerByPipeline>(options.pipeline);
  if (listener == nullptr || !Listen(*listener, std::move(samples), &scores)) return 1;
  if (options.raw) {
    PrintRaw(scores);
  } else {
    Print(scores);
  }
  return 0;
}
