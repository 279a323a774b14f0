// Finds speech in a sound file with the Silero voice detector, which runs in the host, through wasi-nn.
//
//   voice.wasm [--model NAME] [--raw] FILE.wav
//
// The model (silero_vad.onnx of the Python package silero-vad) takes, in this order:
//   0 input  float32 [1, 576]     the last 64 samples of the chunk before, then a chunk of 512
//   1 state  float32 [2, 1, 128]  zeros at first, then what the last inference gave
//   2 sr     int64 scalar         the sample rate
// and gives:
//   0 output float32 [1, 1]       the probability of speech in the chunk
//   1 stateN float32 [2, 1, 128]  the next state

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "speech.h"
#include "wasi_nn.hpp"
#include "wav.h"

namespace {

using Clock = std::chrono::steady_clock;
using Milliseconds = std::chrono::duration<double, std::milli>;

constexpr size_t kOverlap = 64;
constexpr size_t kState = 2 * 1 * 128;

constexpr char kUsage[] =
    "usage: voice.wasm [options] FILE.wav\n"
    "  --model NAME  a model that the host offers (default: vad)\n"
    "  --raw         print each chunk's probability only, as the hex digits of its 32 bits\n"
    "FILE.wav has 16-bit samples, one channel, 16 kHz; the host must open its folder (--dir).\n";

struct Options {
  std::string model = "vad";
  const char* file = nullptr;
  bool raw = false;
};

struct Times {
  double load = 0;     // milliseconds
  double compute = 0;  // all inferences together
};

// Says that `call` failed for `what`, a model or a file.
bool Fail(const std::string& what, const char* call, wasi_nn::Status status) {
  const std::string name(status.name());
  std::fprintf(stderr, "voice: %s: %s: %s (%u)\n", what.c_str(), call, name.c_str(),
               static_cast<unsigned>(status.code()));
  return false;
}

bool ParseOptions(int argc, char** argv, Options* options) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view arg = argv[i];
    if (arg == "--raw") {
      options->raw = true;
    } else if (arg == "--model" && i + 1 < argc) {
      options->model = argv[++i];
    } else if (arg.substr(0, 2) == "--" || options->file != nullptr) {
      std::fprintf(stderr, "voice: cannot make sense of %s\n%s", argv[i], kUsage);
      return false;
    } else {
      options->file = argv[i];
    }
  }
  if (options->file == nullptr) std::fputs(kUsage, stderr);
  return options->file != nullptr;
}

bool LoadModel(const std::string& name, wasi_nn::Context* context, Times* times) {
  const Clock::time_point begin = Clock::now();
  wasi_nn::Graph graph;
  if (wasi_nn::Status s = graph.load_by_name(name); !s) return Fail("model " + name, "load_by_name", s);
  if (wasi_nn::Status s = context->init(graph); !s) return Fail("model " + name, "init_execution_context", s);
  times->load = Milliseconds(Clock::now() - begin).count();
  return true;
}

// Feeds the sound chunk by chunk; the last one is filled up with silence.
bool Listen(const Options& options, const std::vector<float>& samples, wasi_nn::Context* context,
            std::vector<float>* probabilities, Times* times) {
  const std::string what = std::string(options.file) + ", model " + options.model;
  const std::array<int64_t, 1> rate = {kSampleRate};
  std::array<float, kOverlap + kChunk> window = {};
  std::vector<float> state(kState), probability;
  const Clock::time_point begin = Clock::now();
  if (wasi_nn::Status s = context->set_input(2, rate, {}); !s) return Fail(what, "set_input 2", s);
  for (size_t at = 0; at < samples.size(); at += kChunk) {
    std::copy(window.end() - kOverlap, window.end(), window.begin());
    const size_t count = std::min(kChunk, samples.size() - at);
    const auto rest = std::copy_n(samples.begin() + static_cast<ptrdiff_t>(at), count, window.begin() + kOverlap);
    std::fill(rest, window.end(), 0.0f);

    if (wasi_nn::Status s = context->set_input(0, window, {1, kOverlap + kChunk}); !s) {
      return Fail(what, "set_input 0", s);
    }
    if (wasi_nn::Status s = context->set_input(1, state, {2, 1, 128}); !s) return Fail(what, "set_input 1", s);
    if (wasi_nn::Status s = context->compute(); !s) return Fail(what, "compute", s);
    if (wasi_nn::Status s = context->get_output(0, probability); !s) return Fail(what, "get_output 0", s);
    if (wasi_nn::Status s = context->get_output(1, state); !s) return Fail(what, "get_output 1", s);
    if (probability.size() != 1 || state.size() != kState) {
      std::fprintf(stderr, "voice: %s: outputs of %zu and %zu numbers, 1 and %zu expected\n", what.c_str(),
                   probability.size(), state.size(), kState);
      return false;
    }
    probabilities->push_back(probability[0]);
  }
  times->compute = Milliseconds(Clock::now() - begin).count();
  return true;
}

double Seconds(size_t samples) { return static_cast<double>(samples) / kSampleRate; }

// One character for each chunk, one line for about two seconds.
void PrintGraph(const std::vector<float>& probabilities) {
  static constexpr const char* kLevels[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  constexpr size_t kPerLine = 64;
  for (size_t i = 0; i < probabilities.size(); ++i) {
    if (i % kPerLine == 0) std::printf("%s  %6.2f s  ", i == 0 ? "" : "\n", Seconds(i * kChunk));
    const float bounded = probabilities[i] > 0.0f ? std::min(probabilities[i], 1.0f) : 0.0f;
    std::printf("%s", kLevels[std::min(7, static_cast<int>(bounded * 8.0f))]);
  }
  std::printf("\n\n");
}

void PrintSpeech(const std::vector<Speech>& found) {
  for (const Speech& speech : found) {
    std::printf("  speech from %6.2f s to %6.2f s  (%.2f s)\n", Seconds(speech.begin), Seconds(speech.end),
                Seconds(speech.end - speech.begin));
  }
  if (found.empty()) std::printf("  no speech\n");
}

void PrintRaw(const std::vector<float>& probabilities) {
  for (const float probability : probabilities) {
    uint32_t bits = 0;
    std::memcpy(&bits, &probability, sizeof(bits));
    std::printf("%08x\n", static_cast<unsigned>(bits));
  }
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  if (!ParseOptions(argc, argv, &options)) return 2;
  std::vector<float> samples, probabilities;
  std::string error;
  if (!ReadWav(options.file, &samples, &error)) {
    std::fprintf(stderr, "voice: %s: %s\n", options.file, error.c_str());
    return 1;
  }
  wasi_nn::Context context;
  Times times;
  if (!LoadModel(options.model, &context, &times)) return 1;
  if (!Listen(options, samples, &context, &probabilities, &times)) return 1;

  if (options.raw) {
    PrintRaw(probabilities);
    return 0;
  }
  std::printf("  %s: %.2f s\n\n", options.file, Seconds(samples.size()));
  PrintGraph(probabilities);
  PrintSpeech(FindSpeech(probabilities, samples.size()));
  std::printf("\n  load %.2f ms, %zu inferences %.2f ms\n", times.load, probabilities.size(), times.compute);
  return 0;
}
