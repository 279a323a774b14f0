// Finds speech in a sound file with the Silero voice detector, which runs in the host, through wasi-nn.
//
//   voice.wasm [--model NAME] [--raw] FILE.wav
//
// detector.h describes the model's inputs and outputs.

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "detector.h"
#include "speech.h"
#include "wav.h"

namespace {

using Clock = std::chrono::steady_clock;
using Milliseconds = std::chrono::duration<double, std::milli>;

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

// Prints that `call` failed for `what`, a model or a file.
bool Fail(const std::string& what, const std::string& call, wasi_nn::Status status) {
  const std::string name(status.name());
  std::fprintf(stderr, "voice: %s: %s: %s (%u)\n", what.c_str(), call.c_str(), name.c_str(),
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

bool LoadModel(const std::string& name, Detector* detector, Times* times) {
  const Clock::time_point begin = Clock::now();
  std::string call;
  if (wasi_nn::Status s = detector->Open(name, &call); !s) return Fail("model " + name, call, s);
  times->load = Milliseconds(Clock::now() - begin).count();
  return true;
}

// Feeds the sound chunk by chunk; the last one is filled up with silence.
bool Listen(const Options& options, const std::vector<float>& samples, Detector* detector,
            std::vector<float>* probabilities, Times* times) {
  const Clock::time_point begin = Clock::now();
  for (size_t at = 0; at < samples.size(); at += kChunk) {
    std::array<float, kChunk> chunk = {};
    std::copy_n(samples.begin() + static_cast<ptrdiff_t>(at), std::min(kChunk, samples.size() - at), chunk.begin());
    float probability = 0;
    std::string call;
    if (wasi_nn::Status s = detector->Hear(chunk, &probability, &call); !s) {
      return Fail(std::string(options.file) + ", model " + options.model, call, s);
    }
    probabilities->push_back(probability);
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
  Detector detector;
  Times times;
  if (!LoadModel(options.model, &detector, &times)) return 1;
  if (!Listen(options, samples, &detector, &probabilities, &times)) return 1;

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
