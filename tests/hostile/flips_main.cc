// hostile_flips [FORMAT…]: models with flipped bits, each brought by a guest of its own to a host in this process, which runs
// it in a worker. Counts what becomes of them. The host must live, leak nothing, and serve another guest in the meantime.
#include <malloc.h>
#include <sys/resource.h>
#include <CLI/CLI.hpp>

#include "hostile/descendants.h"
#include "hostile/flips.h"
#include "hostile/witness.h"
#include "support/own_process.h"

namespace wasinn::testing {
namespace {

using std::chrono::steady_clock;

struct Choices {
  std::vector<std::string> formats;
  std::string keep;
  size_t count = 5000, first = 0, seed = 1, per_guest = 1;
  int alone_ms = 0;
  bool prints_each = false;
};

// Deadlines short enough that models which never end do not take all day, and as much memory as such small models could want.
constexpr char kLimits[] =
    "[limits]\nload_timeout_ms = 10000\ncompute_timeout_ms = 5000\nmax_model_bytes = 67108864\nmax_tensor_bytes = "
    "67108864\n";

const char* ErrorName(uint32_t error) {
  constexpr const char* kNames[] = {"success",  "invalid_argument", "invalid_encoding",      "missing_memory",
                                    "busy",     "runtime_error",    "unsupported_operation", "too_large",
                                    "not_found"};
  return error < std::size(kNames) ? kNames[error] : "an unknown error";
}

// In words of the count.
std::string OutcomeOf(const Attempt& attempt, const std::vector<std::string>& log) {
  for (const std::string& line : log) {
    constexpr std::string_view kGone = "a worker is gone: ";
    const size_t gone = line.find(kGone);
    if (gone != line.npos)
      return "lost: " + line.substr(gone + kGone.size(), line.find("; ", gone) - gone - kGone.size());
  }
  const auto late = [](const std::string& line) { return line.find(": timeout: ") != line.npos; };
  if (std::ranges::any_of(log, late)) return std::string("deadline: ") + attempt.function;
  if (attempt.error == kSuccess) return "result";
  return std::string("refused: ") + attempt.function + ", " + ErrorName(attempt.error);
}

// The memory of this process while its only guest is the witness.
struct Held {
  size_t descriptors = CountDescriptors(), heap = ::mallinfo2().uordblks, resident = ResidentBytes();
};

class Flips {
 public:
  explicit Flips(Choices choices) : choices_(std::move(choices)), host_(kLimits) {}

  // Whether all went well.
  bool Run() {
    std::printf("seed %zu\n", choices_.seed);
    if (choices_.alone_ms > 0) PrintAlone();
    witness_.emplace(host_.get());
    for (const Flippable& model : FlippableModels()) {
      const auto& wanted = choices_.formats;
      if (wanted.empty() || std::ranges::find(wanted, model.name) != wanted.end()) RunAll(model);
    }
    Print("next to them", *witness_);
    Expect(witness_->wrong() == 0, "the witness has wrong results", witness_->wrong());
    return ok_;
  }

 private:
  void Expect(bool holds, const char* what, size_t number) {
    if (holds) return;
    std::printf("FAILED: %s: %zu\n", what, number);
    ok_ = false;
  }

  static void Print(const char* what, Witness& witness) {
    witness.Stop();
    const auto us = [&](double part) { return static_cast<double>(witness.Quantile(part).count()) / 1000; };
    std::printf("witness %s: %zu inferences, median %.1f us, p99 %.1f us, longest %.1f us\n", what,
                size_t{witness.inferences()}, us(0.5), us(0.99), us(1));
  }

  void PrintAlone() {
    Witness alone(host_.get());
    std::this_thread::sleep_for(std::chrono::milliseconds(choices_.alone_ms));
    Print("alone", alone);
    Expect(alone.wrong() == 0, "the witness has wrong results", alone.wrong());
  }

  // By a guest that brings up to `per_guest` models, and no more when its worker is lost.
  std::string Try(const Brought& model) {
    if (guest_ == nullptr) guest_ = std::make_unique<Bringer>(host_.get(), MemoryFor(model));
    const Attempt attempt = guest_->Try(model);
    const std::vector<std::string> log = host_.TakeLog();
    std::string outcome = OutcomeOf(attempt, log);
    if (++tried_ == choices_.per_guest || outcome.starts_with("lost")) EndGuest();
    return outcome;
  }

  void EndGuest() {
    if (guest_ == nullptr) return;
    const wasinn_statistics left = guest_->Close();
    Expect(left.graphs + left.contexts + left.model_bytes + left.tensor_bytes == 0, "a closed guest holds something",
           1);
    guest_.reset();
    tried_ = 0;
  }

  void RunAll(const Flippable& model) {
    const auto start = steady_clock::now();
    Expect(Try(Unchanged(model)) == "result", "the model has no result as it is", 1);
    std::map<std::string, size_t> outcomes;
    std::optional<Held> before;
    for (size_t i = 0; i < choices_.count; ++i) {
      const Brought variant = Flip(model, choices_.seed, choices_.first + i);
      const std::string outcome = Try(variant);
      if (outcome.starts_with("lost")) Keep(model.name + "-" + std::to_string(choices_.first + i), variant);
      ++outcomes[outcome];
      if (choices_.prints_each) {
        std::printf("%s %zu: %s\n", model.name.c_str(), choices_.first + i, outcome.c_str());
      }
      // Not the first ones: pools and caches fill.
      if (i != choices_.count / 4) continue;
      EndGuest();
      before.emplace();
    }
    Expect(Try(Unchanged(model)) == "result", "the model has no result any more", 1);
    EndGuest();
    // One that was slow to end, on a busy machine, is waited for when the next one starts.
    for (int i = 0; CountDescendants().workers > 0 && i < 10; ++i) {
      (void)Try(Unchanged(model));
      EndGuest();
    }
    const Held after;
    const std::chrono::duration<double> took = steady_clock::now() - start;
    std::printf("%s: %zu variants in %.1f s\n", model.name.c_str(), choices_.count, took.count());
    for (const auto& [outcome, times] : outcomes) std::printf("%8zu  %s\n", times, outcome.c_str());
    Compare(before.value_or(after), after);
    std::fflush(stdout);
  }

  void Keep(const std::string& name, const Brought& variant) const {
    if (choices_.keep.empty()) return;
    for (size_t i = 0; i < variant.parts.size(); ++i) {
      std::ofstream(choices_.keep + "/" + name + "." + std::to_string(i), std::ios::binary) << variant.parts[i];
    }
  }

  void Compare(const Held& before, const Held& after) {
    std::printf("  from a quarter on: %+lld descriptors, %+lld bytes of heap, %+lld KiB resident\n",
                static_cast<long long>(after.descriptors - before.descriptors),
                static_cast<long long>(after.heap - before.heap),
                static_cast<long long>(after.resident - before.resident) / 1024);
    const Descendants left = CountDescendants();
    Expect(left.workers == 0, "workers are left", left.workers);
    Expect(after.descriptors == before.descriptors, "descriptors are left", after.descriptors);
    // Room for the pools' memory, and less than any object that a variant could leave.
    const size_t most = before.heap + (size_t{256} << 10) + 32 * choices_.count;
    Expect(after.heap <= most, "bytes of heap, more than", most);
  }

  const Choices choices_;
  IsolatedHost host_;
  std::optional<Witness> witness_;
  std::unique_ptr<Bringer> guest_;
  size_t tried_ = 0;  // by it
  bool ok_ = true;
};

// 0 if all went well.
int Main(int argc, char** argv) {
  Choices choices;
  CLI::App app("Models with flipped bits, each in a worker: what becomes of them.");
  std::vector<std::string> names;
  for (const Flippable& model : FlippableModels()) names.push_back(model.name);
  app.add_option("format", choices.formats, "default all")->check(CLI::IsMember(names));
  app.add_option("--count", choices.count, "variants of each format")->capture_default_str();
  app.add_option("--seed", choices.seed, "the same seed, the same variants")->capture_default_str();
  app.add_option("--first", choices.first, "the number of the first variant")->capture_default_str();
  app.add_option("--per-guest", choices.per_guest, "variants of one guest, which run in one worker until that is lost")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  app.add_option("--alone", choices.alone_ms, "first measure the witness alone, for so many milliseconds");
  app.add_option("--keep", choices.keep, "a folder for the models under which a worker was lost")
      ->check(CLI::ExistingDirectory);
  app.add_flag("--each", choices.prints_each, "print the outcome of each variant");
  CLI11_PARSE(app, argc, argv);
  AdoptDescendants();
  const bool ok = Flips(std::move(choices)).Run();
  return ok ? 0 : 1;
}

}  // namespace
}  // namespace wasinn::testing

int main(int argc, char** argv) { return wasinn::testing::Main(argc, argv); }
