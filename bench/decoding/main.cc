// What it costs if a guest chooses the tokens of a language model: a guest's loop that always takes the likeliest
// token, compared with the backend's own generation of the same text, in turns, in CPU time of this process.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>
#include <wasinn/wasinn.hpp>

#include "bench/direct_guest.h"
#include "bench/measure.h"
#include "bench/module_guest.h"

namespace wasinn::bench {
namespace {

constexpr uint32_t kPrompt = 0, kOptions = 1, kTokens = 2, kCompletion = 0, kLogits = 6, kLogitTokens = 7;

Tensor TensorOf(uint32_t index, Dtype dtype, const std::vector<int64_t>& dims) {
  Tensor tensor;
  tensor.index = index;
  tensor.dtype = dtype;
  tensor.dims = dims;
  tensor.data = Buffer(std::accumulate(dims.begin(), dims.end(), ElementSize(dtype),
                                       [](size_t size, int64_t dim) { return size * static_cast<size_t>(dim); }));
  return tensor;
}

Tensor Text(uint32_t index, const std::string& text) {
  Tensor tensor = TensorOf(index, WASINN_DTYPE_U8, {static_cast<int64_t>(text.size())});
  std::ranges::copy(text, tensor.data.data());
  return tensor;
}

double CpuSeconds() {
  timespec now = {};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

struct Side {
  std::string name;
  std::unique_ptr<GuestRunner> guest;
  double tokens = 0;            // of one run
  std::vector<double> us = {};  // for each token
};

void Run(Side& side, bool counts) {
  const double start = CpuSeconds();
  if (!side.guest->Run()) throw std::runtime_error(side.name + ": " + side.guest->error());
  if (counts) side.us.push_back(1e6 * (CpuSeconds() - start) / side.tokens);
}

struct Options {
  std::string model, prompt = "The history of the Roman Empire is";
  int64_t tokens = 64, texts = 4, room = 1 << 18;
  int rounds = 21;
  std::vector<int> cpus;
};

class Bench {
 public:
  explicit Bench(const Options& options)
      : options_(options),
        host_(HostOf(OneThread(), {.path = options.model})),
        bench_(Must(CompileModuleForWasmtime({wasinn_bench_guest, wasinn_bench_guest_size}))),
        decode_(Must(CompileModuleForWasmtime({wasinn_bench_decode_guest, wasinn_bench_decode_guest_size}))) {
    const auto tokens = static_cast<double>(options.tokens);
    sides_.push_back({"the backend",
                      Generator(options.prompt, fmt::format(R"({{"temp":0,"n-predict":{}}})", options.tokens)),
                      tokens});
    sides_.push_back({"a guest, by `top-logits` 1", Decoder(kLogitTokens, 1, 1), tokens});
    sides_.push_back({"a guest, by whole rows", Decoder(kLogits, 0, 1), tokens});
    if (options.texts > 1) {
      sides_.push_back({fmt::format("a guest, {} texts at once", options.texts),
                        Decoder(kLogitTokens, options.texts, options.texts),
                        tokens * static_cast<double>(options.texts)});
    }
  }

  void Measure() {
    for (int i = -1; i < options_.rounds; ++i) {  // the first run fills caches
      for (Side& side : sides_) Run(side, i >= 0);
    }
    const std::string generated = TextOf(*sides_[0].guest, 0);
    for (size_t i = 1; i < sides_.size(); ++i) {
      if (Detokenized(*sides_[i].guest) != generated) throw std::runtime_error(sides_[i].name + " chose other tokens");
    }
  }

  void Print() const {
    const std::vector<double>& own = sides_[0].us;
    fmt::print(
        "| who chooses the tokens | tokens/s of CPU time | µs a token | more than the backend, µs | |\n"
        "| --- | --- | --- | --- | --- |\n");
    for (const Side& side : sides_) {
      std::vector<double> more(own.size());
      std::ranges::transform(side.us, own, more.begin(), std::minus());
      const double us = Median(side.us);
      fmt::print("| {} | {:.1f} | {:.0f} | {:+.0f} | {:+.1f} % |\n", side.name, 1e6 / us, us, Median(more),
                 100 * Median(more) / Median(own));
    }
  }

 private:
  static Config OneThread() {
    Config config;
    Must(config.Set("threads", "1"));
    return config;
  }

  std::unique_ptr<GuestRunner> Generator(const std::string& prompt, const std::string& options) const {
    std::vector<Tensor> inputs, outputs;
    inputs.push_back(Text(kPrompt, prompt));
    inputs.push_back(Text(kOptions, options));
    outputs.push_back(TensorOf(kCompletion, WASINN_DTYPE_U8, {options_.room}));
    return Must(bench_->NewGuest(host_, "m", inputs, outputs));
  }

  std::unique_ptr<GuestRunner> Decoder(uint32_t output, int64_t top, int64_t texts) const {
    std::vector<Tensor> inputs, outputs;
    inputs.push_back(Text(kPrompt, options_.prompt));
    inputs.push_back(Text(kOptions, fmt::format(R"({{"decode":true,"top-logits":{}}})", top)));
    inputs.push_back(TensorOf(kTokens, WASINN_DTYPE_I32, {texts, options_.tokens}));
    outputs.push_back(TensorOf(output, WASINN_DTYPE_I32, {options_.room}));
    outputs.push_back(TensorOf(kTokens, WASINN_DTYPE_I32, {texts, options_.tokens}));
    return Must(decode_->NewGuest(host_, "m", inputs, outputs));
  }

  // The text without trailing zeros.
  static std::string TextOf(const GuestRunner& guest, size_t output) {
    const std::span<const uint8_t> bytes = guest.output(output);
    return {reinterpret_cast<const char*>(bytes.data())};
  }

  // The text of the guest's tokens; if it has several texts, that of the first one.
  std::string Detokenized(const GuestRunner& guest) const {
    std::vector<int32_t> tokens(static_cast<size_t>(options_.tokens));
    std::memcpy(tokens.data(), guest.output(1).data(), tokens.size() * sizeof(int32_t));
    const auto reader = Generator(fmt::format("[{}]", fmt::join(tokens, ",")), R"({"detokenize":true})");
    if (!reader->Run()) throw std::runtime_error(reader->error());
    return TextOf(*reader, 0);
  }

  const Options options_;
  const Host host_;
  const std::unique_ptr<GuestProgram> bench_, decode_;
  std::vector<Side> sides_;
};

int Main(int argc, char** argv) {
  CLI::App app("Time a guest that chooses a language model's tokens, compared with the backend's own generation");
  Options options;
  app.add_option("MODEL", options.model, "A language model's file")->required();
  app.add_option("--prompt", options.prompt);
  app.add_option("--tokens", options.tokens, "Tokens after the prompt; default 64");
  app.add_option("--texts", options.texts, "Texts at once, of another guest; default 4");
  app.add_option("--rounds", options.rounds, "Rounds of turns; default 21");
  app.add_option("--pin", options.cpus, "The processor of all sides");
  CLI11_PARSE(app, argc, argv);
  Must(PinTo(options.cpus));
  Bench bench(options);
  bench.Measure();
  bench.Print();
  return 0;
}

}  // namespace
}  // namespace wasinn::bench

int main(int argc, char** argv) try { return wasinn::bench::Main(argc, argv); } catch (const std::exception& error) {
  std::fprintf(stderr, "decoding: %s\n", error.what());
  return 1;
}
