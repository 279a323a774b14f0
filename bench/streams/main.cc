// A language model's text in a component: as a stream of wasi:nn@0.3.0-draft, and by wasinn:ext's generate, compared
// with llama.cpp's own loop, in turns.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>
#include <wasinn/wasinn.hpp>

#include "backends/llama_native.h"
#include "bench/direct_guest.h"
#include "bench/measure.h"
#include "engines/engine.h"

namespace wasinn::bench {
namespace {

double Seconds(clockid_t clock) {
  timespec now = {};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// The time, and the processor time of this process, which other programs do not affect.
struct Moment {
  double wall = Seconds(CLOCK_MONOTONIC), cpu = Seconds(CLOCK_PROCESS_CPUTIME_ID);
};

// A text's beginning, first piece and end.
struct Moments {
  Moment begin, first, end;
  int pieces = 0;
  std::string text;
};

// The lines of the guest, tests/component/nn03/src/pieces.rs.
class Lines : public engines::Sink {
 public:
  bool Write(std::string_view bytes) noexcept override try {
    const Moment now;
    const std::lock_guard lock(mutex_);
    for (const char byte : bytes) {
      if (byte != '\n') {
        line_ += byte;
        continue;
      }
      Take(std::exchange(line_, {}), now);
    }
    return true;
  } catch (const std::exception&) {
    return false;
  }

  // The moments of the last text.
  Moments Taken() {
    const std::lock_guard lock(mutex_);
    return moments_;
  }

 private:
  void Take(const std::string& line, const Moment& now) {
    if (line == "begin") {
      moments_.begin = now;
    } else if (line == "first") {
      moments_.first = now;
    } else {
      moments_.end = now;
      moments_.pieces = std::stoi(line);
      moments_.text = line.substr(line.find(' ') + 1);
    }
  }

  std::mutex mutex_;
  std::string line_;
  Moments moments_;
};

// Like Rust's escape_debug, for English texts.
std::string Escaped(const std::string& text) {
  std::string escaped;
  for (const char byte : text) {
    if (byte == '\n') {
      escaped += "\\n";
      continue;
    }
    if (byte == '"' || byte == '\'' || byte == '\\') escaped += '\\';
    escaped += byte;
  }
  return escaped;
}

struct Options {
  std::string model, guest, prompt = "The history of the Roman Empire is";
  int tokens = 64, rounds = 21;
  std::vector<int> cpus;
};

struct Side {
  Side(std::string its_name, std::string its_how) : name(std::move(its_name)), how(std::move(its_how)) {}

  std::string name, how;  // `how` is the guest's argument; empty: llama.cpp's own loop
  std::vector<double> first_ms, per_s, per_cpu_s;

  void Add(const Moments& moments) {
    const double more = moments.pieces - 1;
    first_ms.push_back(1000 * (moments.first.wall - moments.begin.wall));
    per_s.push_back(more / (moments.end.wall - moments.first.wall));
    per_cpu_s.push_back(more / (moments.end.cpu - moments.first.cpu));
  }
};

// In percent. The pairs were measured one after the other.
double MedianOfRatios(const std::vector<double>& values, const std::vector<double>& to) {
  std::vector<double> ratios(values.size());
  std::ranges::transform(values, to, ratios.begin(), [](double value, double one) { return 100 * value / one; });
  return Median(ratios);
}

class Bench {
 public:
  explicit Bench(Options options) : options_(std::move(options)), host_(HostOf(OneThread(), Model())) {
    Must(host_.Inspect("m").status());  // loads it
    engine_ = Must(engines::NewWasmtimeEngine({}));
    program_ = Must(engine_->Load(options_.guest));
    native_ = std::make_unique<test::NativeLlama>(options_.model);
  }

  void Measure() {
    for (int i = -1; i < options_.rounds; ++i) {  // the first one fills caches
      for (size_t turn = 0; turn < sides_.size(); ++turn) {
        Side& side = sides_[(turn + static_cast<size_t>(i + 1)) % sides_.size()];
        const Moments moments = side.how.empty() ? Native() : Guest(side.how);
        if (text_.empty()) text_ = moments.text;
        if (moments.text != text_) throw std::runtime_error("the texts differ: " + text_ + "\n" + moments.text);
        if (i >= 0) side.Add(moments);
      }
    }
  }

  void Print() const {
    fmt::print(
        "| | first piece, ms | pieces/s | of native | of native, CPU time |\n"
        "| --- | --- | --- | --- | --- |\n");
    for (const Side& side : sides_) {
      fmt::print("| {} | {:.2f} | {:.1f} | {:.1f} % | {:.1f} % |\n", side.name, Median(side.first_ms),
                 Median(side.per_s), MedianOfRatios(side.per_s, sides_[0].per_s),
                 MedianOfRatios(side.per_cpu_s, sides_[0].per_cpu_s));
    }
  }

 private:
  static Config OneThread() {
    Config config;
    Must(config.Set("threads", "1"));
    return config;
  }

  ModelOptions Model() const {
    ModelOptions model;
    model.path = options_.model;
    return model;
  }

  Moments Native() const {
    Moments moments;
    test::NativeSettings settings;
    settings.context = 4096;
    settings.predict = options_.tokens;
    settings.temperature = 0;
    settings.on_piece = [&] {
      moments.end = Moment();
      if (++moments.pieces == 1) moments.first = moments.end;
    };
    const test::NativeCompletion completion = native_->Complete(options_.prompt, settings);
    moments.begin.wall = moments.first.wall - completion.first_seconds;
    moments.text = Escaped(completion.bytes);
    return moments;
  }

  Moments Guest(const std::string& how) const {
    wasinn::Result<wasinn::Guest> guest = wasinn::Guest::Create(host_);
    Must(guest.status());
    const auto lines = std::make_shared<Lines>();
    engines::RunOptions run;
    run.args = {"guest", how, "m", std::to_string(options_.tokens), options_.prompt};
    run.streams = engines::Streams{.input = {}, .output = lines, .error = std::make_shared<Lines>()};
    run.guest = guest->get();
    const engines::Exit exit = program_->Run(run);
    if (exit.code != 0) throw std::runtime_error("the guest: " + exit.message);
    return lines->Taken();
  }

  const Options options_;
  const Host host_;
  std::unique_ptr<engines::Engine> engine_;
  std::unique_ptr<engines::Program> program_;
  std::unique_ptr<test::NativeLlama> native_;
  std::vector<Side> sides_ = {{"llama.cpp's own loop", ""}, {"`compute-stream`", "stream"}, {"`generate`", "generate"}};
  std::string text_;
};

int Main(int argc, char** argv) {
  CLI::App app("Time the pieces of a language model's text in components, compared with llama.cpp's own loop");
  Options options;
  app.add_option("MODEL", options.model, "A language model's file")->required();
  app.add_option("GUEST", options.guest, "test-nn03.component.wasm")->required();
  app.add_option("--prompt", options.prompt);
  app.add_option("--tokens", options.tokens, "Tokens of a text; default 64");
  app.add_option("--rounds", options.rounds, "Rounds of the three; default 21");
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
  std::fprintf(stderr, "streams: %s\n", error.what());
  return 1;
}
