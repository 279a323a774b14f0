// Language models through backend.h beside llama.cpp's own loop, in turns within one run.
//
//   llama_bench [MODEL.gguf] [ROUNDS] [THREADS] [beside | clients CLIENTS WORDS]
//
// Without a model: one with random weights, 8 layers of width 512. Prints medians, and the median of neighbours'
// ratios. With "beside" only what a guest that generates has of another's long prompt; with "clients" that of many
// guests, each of which asks for one text after another.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <random>
#include <thread>

#include "backends/llama_guest.h"
#include "backends/llama_native.h"

namespace wasinn::test {
namespace {

constexpr int32_t kTokens = 64;
constexpr int kGuests = 8;

// Seconds; with WASINN_BENCH_CPU=1 of this OS process's CPU: what was computed while a guest waited, beside other work.
double NowOfAll() {
  if (getenv("WASINN_BENCH_CPU") == nullptr) return Now();
  timespec now = {};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

double Seconds(const std::function<void()>& work, double (*now)() = Now) {
  const double start = now();
  work();
  return now() - start;
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

// Guests with one prompt, at once or one after the other.
class Guests {
 public:
  Guests(const Host& host, const std::string& bytes, const std::string& prompt, int32_t predict, int parallel)
      // Without the tokens that end a text.
      : model_(
            host, bytes,
            LlamaOptions(R"({"temp": 0, "ctx-size": 512, "cache-prompt": false, "logit-bias": {"0": false, "2": false})"
                         R"(, "n-predict": )" +
                         std::to_string(predict) + R"(, "parallel": )" + std::to_string(parallel) + "}")) {
    for (int i = 0; i < kGuests; ++i) {
      contexts_.push_back(std::make_unique<Context>(model_));
      SetPrompt(contexts_.back().get(), prompt);
    }
    AtOnce();  // warms up
  }

  double InTurn() {
    return Seconds(
        [this] {
          for (auto& context : contexts_) context->Compute();
        },
        NowOfAll);
  }
  double AtOnce() {
    return Seconds(
        [this] {
          std::vector<std::thread> guests;
          for (auto& context : contexts_) guests.emplace_back([&context] { context->Compute(); });
          for (std::thread& guest : guests) guest.join();
        },
        NowOfAll);
  }

 private:
  const Model model_;
  std::vector<std::unique_ptr<Context>> contexts_;
};

void MeasureMany(const Host& host, const NativeLlama& native, const std::string& bytes, const std::string& prompt,
                 int rounds, int threads) {
  const std::string short_prompt = "the program is";
  Guests alone(host, bytes, short_prompt, kTokens, 1), together(host, bytes, short_prompt, kTokens, kGuests);
  Guests beginning(host, bytes, prompt, 1, kGuests);
  Pairs rate, first;
  std::vector<double> gain, native_gain;
  for (int i = 0; i < rounds; ++i) {
    const double one = native.CompleteMany(short_prompt, 1, kTokens, threads);
    rate.Add(together.AtOnce(), native.CompleteMany(short_prompt, kGuests, kTokens, threads));
    gain.push_back(alone.InTurn() / rate.ours.back());
    native_gain.push_back(kGuests * one / rate.native.back());
    first.Add(beginning.AtOnce(), native.CompleteMany(prompt, kGuests, 1, threads));
  }
  rate.Print("8 guests", kGuests * kTokens);
  first.Print("their first", kGuests * static_cast<double>(native.Tokenize(prompt).size()));
  printf("%-12s native x%.2f   wasinn x%.2f of one after the other\n", "together", Median(native_gain), Median(gain));
}

// Seconds between one token and the next, of a guest that generates until `enough`.
std::vector<double> Gaps(Context* context, const std::function<bool(size_t)>& enough) {
  std::vector<double> gaps;
  bool is_first = true;  // of a generation, whose prompt is evaluated, too
  while (!enough(gaps.size())) {
    const double start = NowOfAll();
    const bool got = static_cast<bool>(context->Step());
    if (got && !is_first) gaps.push_back(NowOfAll() - start);
    is_first = !got;
    if (!got) context->Finish();
  }
  context->Finish();
  return gaps;
}

double Percentile(std::vector<double> values, double part) {
  const auto at = values.begin() + static_cast<ptrdiff_t>(part * static_cast<double>(values.size() - 1));
  std::ranges::nth_element(values, at);
  return *at;
}

std::vector<double> Joined(const std::vector<std::vector<double>>& lists) {
  std::vector<double> all;
  for (const std::vector<double>& list : lists) all.insert(all.end(), list.begin(), list.end());
  return all;
}

// The delay of a guest that generates, next to another guest with a long prompt.
void MeasureBesideAPrompt(const Host& host, const NativeLlama& native, const std::string& bytes, int rounds) {
  constexpr size_t kLong = 4000;
  // Without the tokens that end a text.
  const Model model(host, bytes, LlamaOptions(R"({"temp": 0, "ctx-size": 5120, "parallel": 2, "cache-prompt": false,
                                                  "logit-bias": {"0": false, "2": false}})"));
  Context generating(model), reading(model, 0, R"({"n-predict": 1})");
  std::string prompt;
  while (native.Tokenize(prompt).size() < kLong) prompt += "the program is free software, and ";
  SetPrompt(&generating, "the program is");
  SetPrompt(&reading, prompt);
  std::vector<double> alone, beside, slow_downs, quick, slow;
  for (int i = 0; i < rounds; ++i) {
    double start = NowOfAll();
    reading.Compute();
    quick.push_back(NowOfAll() - start);
    std::atomic<bool> done = false;
    std::vector<double> during;
    std::thread generator([&] { during = Gaps(&generating, [&done](size_t) { return done.load(); }); });
    start = NowOfAll();
    reading.Compute();
    slow.push_back(NowOfAll() - start);
    done = true;
    generator.join();
    // As many, for a token takes longer the longer the text is.
    const std::vector<double> before = Gaps(&generating, [&during](size_t n) { return n >= during.size(); });
    slow_downs.push_back(Percentile(during, 0.99) / Percentile(before, 0.99));
    alone.insert(alone.end(), before.begin(), before.end());
    beside.insert(beside.end(), during.begin(), during.end());
  }
  const auto print = [](const char* what, const std::vector<double>& gaps) {
    printf("%-28s median %8.3f ms   p99 %8.3f ms   (%zu)\n", what, 1e3 * Percentile(gaps, 0.5),
           1e3 * Percentile(gaps, 0.99), gaps.size());
  };
  print("between tokens, alone", alone);
  print("beside a prompt of 4,000", beside);
  printf("median of %d rounds' p99      x%.2f   the prompt: %.2f s alone, %.2f s beside\n", rounds, Median(slow_downs),
         Median(quick), Median(slow));
}

// Each asks ROUNDS times, each time with another prompt.
void MeasureClients(const Host& host, const std::string& bytes, int rounds, size_t clients, size_t words) {
  const Model model(host, bytes, LlamaOptions(R"({"temp": 0, "ctx-size": 2048, "parallel": 8, "n-predict": 64,
                                                  "logit-bias": {"0": false, "2": false}})"));
  constexpr const char* kWords[] = {" river", " stone", " bird", " quiet", " letter", " garden", " winter"};
  std::vector<std::vector<double>> firsts(clients), gaps(clients);
  const double took = Seconds([&] {
    std::vector<std::thread> threads;
    for (size_t number = 0; number < clients; ++number) {
      threads.emplace_back([&, number] {
        std::mt19937 random(static_cast<uint32_t>(number));
        Context context(model);
        for (int i = 0; i < rounds; ++i) {
          std::string prompt;
          for (size_t n = 0; n < words; ++n) prompt += kWords[random() % std::size(kWords)];
          SetPrompt(&context, prompt);
          firsts[number].push_back(Seconds([&] { context.Step(); }));
          const size_t all = gaps[number].size() + kTokens - 1;
          while (gaps[number].size() < all) gaps[number].push_back(Seconds([&] { context.Step(); }));
          context.Finish();
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
  });
  const std::vector<double> first = Joined(firsts), between = Joined(gaps);
  printf(
      "%zu clients: %.1f tokens/s, first token %.0f ms, between tokens: median %.1f ms, p99 %.1f ms, longest %.0f ms\n",
      clients, kTokens * static_cast<double>(first.size()) / took, 1e3 * Median(first), 1e3 * Percentile(between, 0.5),
      1e3 * Percentile(between, 0.99), 1e3 * Percentile(between, 1));
}

int Main(int argc, char** argv) {
  const std::string bytes =
      argc > 1 && argv[1][0] != '\0'
          ? ReadFile(argv[1])
          : TinyLlamaWriter(
                {.embedding = 512, .layers = 8, .heads = 8, .kv_heads = 4, .feed_forward = 1536, .context = 8192})
                .Write();
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 15, threads = argc > 3 ? std::atoi(argv[3]) : 1;
  const Host host("{}", static_cast<uint32_t>(threads));
  if (argc > 6 && std::string(argv[4]) == "clients") {
    MeasureClients(host, bytes, rounds, std::stoul(argv[5]), std::stoul(argv[6]));
    return 0;
  }
  const NativeLlama native(TemporaryFile("bench.gguf", bytes));
  if (argc > 4 && std::string(argv[4]) == "beside") {
    MeasureBesideAPrompt(host, native, bytes, rounds);
    return 0;
  }
  std::string prompt;
  while (native.Tokenize(prompt).size() < 200) prompt += "the program is free software, and ";
  MeasureOne(host, native, bytes, prompt, rounds, threads);
  MeasureMany(host, native, bytes, prompt, rounds, threads);
  return 0;
}

}  // namespace
}  // namespace wasinn::test

int main(int argc, char** argv) { return wasinn::test::Main(argc, argv); }
