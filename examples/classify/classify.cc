// Classifies images with a model of the host's, through wasi-nn.
//
//   classify.wasm [--model NAME | --model-file PATH] [--top K] [--raw] IMAGE...
//
// The model takes gray images of 8x8 pixels, float32 [N, 1, 8, 8], and gives the probability of each class, float32
// [N, classes]: models/digits.onnx.

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "image.h"
#include "wasi_nn.hpp"

namespace {

using Clock = std::chrono::steady_clock;
using Microseconds = std::chrono::duration<double, std::micro>;

constexpr char kUsage[] =
    "usage: classify.wasm [options] IMAGE...\n"
    "  --model NAME       a model that the host offers (default: digits)\n"
    "  --model-file PATH  an ONNX file that this program reads and gives to the host\n"
    "  --top K            how many classes to print for each image (default: 3)\n"
    "  --raw              for each image only: file name, class, the output's bytes in hex\n"
    "IMAGE is a PNG or JPEG file; --model-file and IMAGE need the host to open their folder (--dir).\n";

struct Options {
  std::string model = "digits";
  const char* model_file = nullptr;
  int top = 3;
  bool raw = false;
  std::vector<const char*> images;
};

struct Times {
  double load = 0;                 // microseconds, here and below
  std::vector<double> inferences;  // in the order in which they ran
};

// Prints that `call` failed for `what`, a model or a file.
bool Fail(const std::string& what, const char* call, wasi_nn::Status status) {
  const std::string name(status.name());
  std::fprintf(stderr, "classify: %s: %s: %s (%u)\n", what.c_str(), call, name.c_str(),
               static_cast<unsigned>(status.code()));
  return false;
}

bool ParseOptions(int argc, char** argv, Options* options) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view arg = argv[i];
    const char* value = i + 1 < argc ? argv[i + 1] : nullptr;
    if (arg.substr(0, 2) != "--") {
      options->images.push_back(argv[i]);
      continue;
    }
    if (arg == "--raw") {
      options->raw = true;
      continue;
    }
    if (arg != "--model" && arg != "--model-file" && arg != "--top") {
      std::fprintf(stderr, "classify: unknown option %s\n%s", argv[i], kUsage);
      return false;
    }
    if (value == nullptr) {
      std::fprintf(stderr, "classify: %s needs a value\n%s", argv[i], kUsage);
      return false;
    }
    ++i;
    if (arg == "--model") options->model = value;
    if (arg == "--model-file") options->model_file = value;
    if (arg == "--top") options->top = std::atoi(value);
  }
  if (options->top < 1) {
    std::fprintf(stderr, "classify: --top needs a number of 1 or more\n");
    return false;
  }
  if (options->images.empty()) std::fputs(kUsage, stderr);
  return !options->images.empty();
}

bool LoadModel(const Options& options, wasi_nn::Context* context, Times* times) {
  wasi_nn::Graph graph;
  Clock::time_point begin;
  const std::string what = "model " + (options.model_file != nullptr ? options.model_file : options.model);
  if (options.model_file != nullptr) {
    std::vector<uint8_t> bytes;
    std::string error;
    if (!ReadFile(options.model_file, &bytes, &error)) {
      std::fprintf(stderr, "classify: %s: %s\n", what.c_str(), error.c_str());
      return false;
    }
    begin = Clock::now();
    const wasi_nn::Status status = graph.load(bytes, WASI_NN_ENCODING_ONNX);
    if (!status) return Fail(what, "load", status);
  } else {
    begin = Clock::now();
    const wasi_nn::Status status = graph.load_by_name(options.model);
    if (!status) return Fail(what, "load_by_name", status);
  }
  const wasi_nn::Status status = context->init(graph);
  times->load = Microseconds(Clock::now() - begin).count();
  return status ? true : Fail(what, "init_execution_context", status);
}

bool Infer(const char* path, const Pixels& pixels, wasi_nn::Context* context, std::vector<float>* scores,
           Times* times) {
  const Clock::time_point begin = Clock::now();
  if (wasi_nn::Status s = context->set_input(0, pixels, {1, 1, kSide, kSide}); !s) return Fail(path, "set_input", s);
  if (wasi_nn::Status s = context->compute(); !s) return Fail(path, "compute", s);
  if (wasi_nn::Status s = context->get_output(0, *scores); !s) return Fail(path, "get_output", s);
  times->inferences.push_back(Microseconds(Clock::now() - begin).count());
  if (!scores->empty()) return true;
  std::fprintf(stderr, "classify: %s: the model's output is empty\n", path);
  return false;
}

// The classes, the most probable first.
std::vector<size_t> Ranking(const std::vector<float>& scores) {
  std::vector<size_t> order(scores.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return scores[a] > scores[b]; });
  return order;
}

void PrintRaw(const char* path, const std::vector<float>& scores, size_t predicted) {
  std::printf("%s %zu ", path, predicted);
  const unsigned char* bytes = reinterpret_cast<const unsigned char*>(scores.data());
  for (size_t i = 0; i < scores.size() * sizeof(float); ++i) std::printf("%02x", bytes[i]);
  std::printf("\n");
}

// A bar of up to `width` characters, exact to an eighth of one, padded with blanks to that width.
std::string Bar(float part, int width) {
  static constexpr const char* kEighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const float bounded = part > 0.0f ? std::min(part, 1.0f) : 0.0f;
  const int eighths = static_cast<int>(std::lround(bounded * static_cast<float>(width) * 8.0f));
  std::string bar;
  for (int i = 0; i < eighths / 8; ++i) bar += "█";
  bar += kEighths[eighths % 8];
  return bar.append(width - (eighths + 7) / 8, ' ');
}

// The image in small on the left, its name and classes on the right.
void PrintResult(const char* path, const Pixels& pixels, const std::vector<float>& scores,
                 const std::vector<size_t>& order, int top, bool gray) {
  const int classes = static_cast<int>(std::min<size_t>(top, order.size()));
  const int label_width = static_cast<int>(std::to_string(scores.size() - 1).size());
  for (int row = 0; row < std::max(kSide / 2, classes + 1); ++row) {
    const std::string picture = row < kSide / 2 ? RenderRow(pixels, row, gray) : std::string(kSide, ' ');
    std::printf("  %s  ", picture.c_str());
    if (row == 0) {
      std::printf(" %s", path);
    } else if (row <= classes) {
      const float score = scores[order[row - 1]];
      std::printf(" %*zu  %s %5.1f %%", label_width, order[row - 1], Bar(score, 30).c_str(), score * 100.0f);
    }
    std::printf("\n");
  }
  std::printf("\n");
}

void PrintTime(const char* label, double microseconds, const char* note) {
  const bool small = microseconds < 1000;
  std::printf("  %-16s %8.2f %s%s\n", label, small ? microseconds : microseconds / 1000, small ? "µs" : "ms", note);
}

void PrintTimes(Times times) {
  PrintTime("load", times.load, "");
  if (times.inferences.empty()) return;
  PrintTime("first inference", times.inferences[0], "");
  std::vector<double> later(times.inferences.begin() + 1, times.inferences.end());
  if (later.empty()) return;
  const auto middle = later.begin() + static_cast<std::ptrdiff_t>(later.size() / 2);
  std::nth_element(later.begin(), middle, later.end());
  const std::string note = "  (median of " + std::to_string(later.size()) + ")";
  PrintTime("later inferences", *middle, note.c_str());
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  if (!ParseOptions(argc, argv, &options)) return 2;
  const bool gray = isatty(STDOUT_FILENO) != 0 && std::getenv("NO_COLOR") == nullptr;
  wasi_nn::Context context;
  Times times;
  if (!LoadModel(options, &context, &times)) return 1;

  int exit_code = 0;
  std::vector<float> scores;
  for (const char* path : options.images) {
    std::vector<uint8_t> bytes;
    Pixels pixels;
    std::string error;
    if (!ReadFile(path, &bytes, &error) || !DecodeImage(bytes, &pixels, &error)) {
      std::fprintf(stderr, "classify: %s: %s\n", path, error.c_str());
      exit_code = 1;
      continue;
    }
    if (!Infer(path, pixels, &context, &scores, &times)) return 1;
    const std::vector<size_t> order = Ranking(scores);
    if (options.raw) {
      PrintRaw(path, scores, order[0]);
    } else {
      PrintResult(path, pixels, scores, order, options.top, gray);
    }
  }
  if (!options.raw) PrintTimes(times);
  return exit_code;
}
