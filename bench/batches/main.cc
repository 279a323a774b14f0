// What batches gain: inferences per second of many guests on one model, separately and in batches; and those of the
// framework called natively, a row at a time and a whole batch at a time. There is no engine, as in many-guests.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>
#include <wasinn/wasinn.hpp>

#include "bench/measure.h"
#include "bench/native.h"
#include "bench/one_input_guest.h"

namespace wasinn::bench {
namespace {

struct Options {
  std::string model, backend, delay = "0";
  std::vector<int64_t> dims;
  uint32_t batch = 16, instances = 0;
  int guests = 16, threads = 1;
  double seconds = 10;
};

template <typename T>
T Must(Result<T> result) {
  if (!result) throw std::runtime_error(result.error());
  return std::move(*result);
}

class GuestRunner : public Runner {
 public:
  GuestRunner(const wasinn::Host& host, const std::vector<uint32_t>& dims) : guest_(host, dims) {}
  bool Run() override {
    try {
      guest_.Compute();
    } catch (const std::exception& error) {
      error_ = error.what();
      return false;
    }
    return true;
  }
  std::string error() const override { return error_; }

 private:
  OneInputGuest guest_;
  std::string error_;
};

// Guests of a host whose model "m" has batches or not.
struct Crowd {
  Crowd(const Options& options, bool batched) {
    wasinn::Config config;
    wasinn::bench::Must(config.Set("threads", std::to_string(options.threads)));
    wasinn::ModelOptions model;
    model.path = options.model;
    if (batched) {
      model.batching.max_batch_size = options.batch;
      model.batching.max_queue_delay_microseconds = static_cast<uint32_t>(std::stoul(options.delay));
      model.batching.instance_count = options.instances;
    }
    host = std::make_unique<wasinn::Host>(HostOf(config, model));
    std::vector<uint32_t> dims = {1};
    dims.insert(dims.end(), options.dims.begin(), options.dims.end());
    for (int i = 0; i < options.guests; ++i) {
      guests.push_back(std::make_unique<GuestRunner>(*host, dims));
      runners.push_back(guests.back().get());
    }
  }
  std::unique_ptr<wasinn::Host> host;
  std::vector<std::unique_ptr<GuestRunner>> guests;
  std::vector<Runner*> runners;
};

// The framework on inputs of `rows` rows, called by `threads` threads.
struct Native {
  Native(const Options& options, const wasinn::Host& host, int64_t rows, int threads) {
    const wasinn::Signature signature = [&] {
      auto found = host.Inspect("m");
      wasinn::bench::Must(found.status());
      return std::move(*found);
    }();
    std::vector<int64_t> dims = {rows};
    dims.insert(dims.end(), options.dims.begin(), options.dims.end());
    inputs = Must(MakeInputs(signature, {{signature.inputs.front().name, dims}}));
    outputs = Must(MakeOutputs(signature));
    for (const wasinn::ModelInfo& info : host.Models()) {
      model = Must(LoadNative(info.encoding, {.library = info.library, .path = info.path, .threads = options.threads},
                              inputs, &outputs));
    }
    for (int i = 0; i < threads; ++i) {
      all.push_back(Must(model->NewRunner()));
      runners.push_back(all.back().get());
    }
  }
  std::vector<Tensor> inputs, outputs;
  std::unique_ptr<NativeModel> model;
  std::vector<std::unique_ptr<NativeRunner>> all;
  std::vector<Runner*> runners;
};

int Run(int argc, char** argv) {
  CLI::App app(
      "Time guests on a model with one input of f32, each by itself and in batches, and the framework natively");
  Options options;
  int processors = 2;
  app.add_option("MODEL", options.model, "A model file")->required();
  app.add_option("--dims", options.dims, "Dims of its input without the first, which is the batch")->required();
  app.add_option("--guests", options.guests, "Guests at once; default 16");
  app.add_option("--batch", options.batch, "max_batch_size; default 16");
  app.add_option("--delay", options.delay, "max_queue_delay_microseconds; default 0");
  app.add_option("--instances", options.instances, "instance_count; default wasinn's default");
  app.add_option("--threads", options.threads, "Threads of the framework for one inference; default 1");
  app.add_option("--processors", processors, "Threads of the native side; default 2");
  app.add_option("--seconds", options.seconds, "Seconds for each pair; default 10");
  CLI11_PARSE(app, argc, argv);

  const Crowd single(options, false), batched(options, true);
  const int callers = std::max(1, processors / options.threads);
  const Native rows(options, *single.host, 1, callers), batches(options, *single.host, options.batch, callers);
  const Budget budget{.seconds = options.seconds};
  const Rates native = Must(MeasureRates(rows.runners, batches.runners, budget, {}));
  const Rates guests = Must(MeasureRates(single.runners, batched.runners, budget, {}));
  const double native_gain = native.ratio * options.batch;
  fmt::print("native: {:.0f} rows/s one by one, {:.0f} in batches of {}: {:.2f} x\n", native.a,
             native.b * options.batch, options.batch, native_gain);
  fmt::print("{} guests: {:.0f} rows/s one by one, {:.0f} in batches: {:.2f} x, {:.0f} % of the native gain\n",
             options.guests, guests.a, guests.b, guests.ratio, 100 * guests.ratio / native_gain);
  fmt::print("{:.0f} % of the native batches' rows/s\n", 100 * guests.b / (native.b * options.batch));
  return 0;
}

}  // namespace
}  // namespace wasinn::bench

int main(int argc, char** argv) try { return wasinn::bench::Run(argc, argv); } catch (const std::exception& error) {
  std::fprintf(stderr, "batches: %s\n", error.what());
  return 1;
}
