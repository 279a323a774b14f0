// Language models through backend.h beside llama.cpp's own loop, in turns within one run.
//
//   llama_bench [MODEL.gguf] [ROUNDS] [THREADS]
//
// Without a model: one with random weights, 8 layers of width 512. Prints medians, and the median of neighbours'
// ratios.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <thread>

#include "backends/llama_guest.h"
#include "backends/llama_native.h"

namespace wasinn::test {
namespace {

constexpr int32_t kTokens = 64;
constexpr int kGuests = 8;

double Seconds(const std::function<void()>& work) {
  const double start = Now();
  work();
  return Now() - start;
}

double Median(std::vector<double> values) {
  std::ranges::nth_element(values, values.begin() + static_cast<ptrdiff_t>(values.size() / 2));
  return values[values.size() / 2];
}

// Pairs of seconds, ours and the framework's.
struct Pairs {
  std::vector<double> ours, native, ratios;

  void Add(double our, double framework) {
    ours.push_back(our);
    native.push_back(framework);
    ratios.push_back(framework / our);
  }
  void Print(const char* what, double tokens) const {
    printf("%-12s native %9.1f tokens/s   wasinn %9.1f tokens/s   %.1f %%\n", what, tokens / Median(native),
           tokens / Median(ours), 100 * Median(ratios));
  }
};

void MeasureOne(const Host& host, const NativeLlama& native, const std::string& bytes, const std::string& prompt,
                int rounds, int threads) {
  const Model model(
      host, bytes, LlamaOptions(R"({"seed": 1, "cache-prompt": false, "n-predict": )" + std::to_string(kTokens) + "}"));
  Context context(model);
  SetPrompt(&context, prompt);
  Pairs first, generation;
  double prompt_tokens = 0, tokens = 0;
  for (int i = -1; i < rounds; ++i) {
    const NativeCompletion completion = native.Complete(prompt, {.predict = kTokens, .threads = threads});
    std::string piece, text;
    const auto take = [&] {
      context.Piece(kCompletion, &piece);
      text += piece;
    };
    const double first_seconds = Seconds([&] {
      context.Step();
      take();
    });
    const double rest = Seconds([&] {
      while (context.Step()) take();
    });
    context.Finish();
    if (text != Characters(completion.bytes)) {
      printf("the tokens differ: %s\nand %s\n", text.c_str(), Characters(completion.bytes).c_str());
      std::exit(1);
    }
    if (i < 0) continue;  // the first one warms up
    prompt_tokens = static_cast<double>(completion.prompt.size());
    tokens = static_cast<double>(completion.tokens.size()) - 1;
    first.Add(first_seconds, completion.first_seconds);
    generation.Add(rest, completion.generation_seconds);
  }
  first.Print("prompt", prompt_tokens);
  generation.Print("generation", tokens);
  printf("%-12s native %9.3f ms         wasinn %9.3f ms         %+.3f ms\n", "first token", 1e3 * Median(first.native),
         1e3 * Median(first.ours), 1e3 * (Median(first.ours) - Median(first.native)));
}

void MeasureMany(const Host& host, const NativeLlama& native, const std::string& bytes, const std::string& prompt,
                 int rounds, int threads) {
  const std::string config = R"({"temp": 0, "ctx-size": 512, "n-predict": )" + std::to_string(kTokens);
  const Model alone(host, bytes, LlamaOptions(config + "}"));
  const Model shared(host, bytes, LlamaOptions(config + R"(, "parallel": )" + std::to_string(kGuests) + "}"));
  std::vector<std::unique_ptr<Context>> in_turn, together;
  for (int i = 0; i < kGuests; ++i) {
    in_turn.push_back(std::make_unique<Context>(alone));
    together.push_back(std::make_unique<Context>(shared));
    for (Context* context : {in_turn.back().get(), together.back().get()}) {
      SetPrompt(context, prompt);
      context->Compute();
    }
  }
  std::vector<double> gain, native_gain, rate;
  for (int i = 0; i < rounds; ++i) {
    double turn_tokens = 0, shared_tokens = 0;
    const double turn = Seconds([&] {
      for (auto& context : in_turn) context->Compute();
    });
    const double batch = Seconds([&] {
      std::vector<std::thread> guests;
      for (auto& context : together) guests.emplace_back([&context] { context->Compute(); });
      for (std::thread& guest : guests) guest.join();
    });
    for (auto& context : in_turn) turn_tokens += Metadata(context.get())["output_tokens"].get<double>();
    for (auto& context : together) shared_tokens += Metadata(context.get())["output_tokens"].get<double>();
    gain.push_back(shared_tokens / batch / (turn_tokens / turn));
    rate.push_back(shared_tokens / batch);
    const double one = native.CompleteMany(prompt, 1, kTokens, threads);
    native_gain.push_back(kGuests * one / native.CompleteMany(prompt, kGuests, kTokens, threads));
  }
  printf("%d guests     native x%.2f   wasinn x%.2f of one after the other   (%.1f tokens/s)\n", kGuests,
         Median(native_gain), Median(gain), Median(rate));
}

int Main(int argc, char** argv) {
  const std::string bytes =
      argc > 1 && argv[1][0] != '\0'
          ? ReadFile(argv[1])
          : TinyLlamaWriter({.embedding = 512, .layers = 8, .heads = 8, .kv_heads = 4, .feed_forward = 1536}).Write();
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 15, threads = argc > 3 ? std::atoi(argv[3]) : 1;
  const Host host("{}", static_cast<uint32_t>(threads));
  const NativeLlama native(TemporaryFile("bench.gguf", bytes));
  std::string prompt;
  while (native.Tokenize(prompt).size() < 200) prompt += "the program is free software, and ";
  MeasureOne(host, native, bytes, prompt, rounds, threads);
  // Several threads have no CPU time in common.
  if (getenv("WASINN_BENCH_CPU") != nullptr) return 0;
  MeasureMany(host, native, bytes, "the program is", rounds, threads);
  return 0;
}

}  // namespace
}  // namespace wasinn::test

int main(int argc, char** argv) { return wasinn::test::Main(argc, argv); }
