#include "bench/bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <thread>

#include "bench/allocations.h"
#include "bench/guest.h"
#include "bench/native.h"
#include "bench/noise.h"
#include "bench/steps.h"
#include "settings/text.h"

namespace wasinn::bench {
namespace {

// The host's setting "threads". Its default here is one, because wasinn is for many guests.
int Threads(const cli::HostFlags& flags) {
  std::string threads = "1";
  for (const auto& [key, value] : flags.settings) {
    if (key == "threads") threads = value;
  }
  const int number = std::stoi(threads);  // cli::AddHostFlags only takes digits
  return number > 0 ? number : static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
}

// The share of MeasureRates in the time of a host; another host measures the steps.
Budget OfSteps(Budget budget) {
  constexpr double kShare = 1.0 / 3;
  budget.seconds *= kShare;
  return budget;
}

template <typename T>
std::vector<Runner*> Pointers(const std::vector<std::unique_ptr<T>>& owned) {
  std::vector<Runner*> runners(owned.size());
  std::ranges::transform(owned, runners.begin(), [](const auto& runner) { return runner.get(); });
  return runners;
}

// All measurements, made once, in this order.
class Bench {
 public:
  explicit Bench(const Options& options) : options_(options) {}

  Result<Report> Run() {
    report_.load_average = LoadAverage();
    if (auto pinned = PinTo(options_.cpus); !pinned) return std::unexpected(pinned.error());
    for (auto step : {&Bench::OpenHost, &Bench::OpenNative, &Bench::OpenGuest, &Bench::CompareOutputs,
                      &Bench::CountCopies, &Bench::CompareAllocations, &Bench::TimeInferences, &Bench::TimeEmptyCall,
                      &Bench::TimeLoops, &Bench::TimeLevels, &Bench::TimeSteps}) {
      if (auto done = (this->*step)(); !done) return std::unexpected(done.error());
    }
    return report_;
  }

 private:
  Result<void> OpenHost() {
    auto host = NewHost(false);
    if (!host) return std::unexpected(host.error());
    host_ = std::move(*host);
    const std::vector<ModelInfo> models = host_->Models();
    const bool known = std::ranges::any_of(models, [&](const ModelInfo& model) { return IsNamed(model); });
    if (!known) return std::unexpected(name_ + " is neither a file nor a folder nor the name of a model");
    const wasinn::Result<Signature> signature = host_->Inspect(name_);
    if (!signature) return std::unexpected(signature.status().message());
    auto inputs = MakeInputs(*signature, options_.shapes);
    if (!inputs) return std::unexpected(inputs.error());
    auto outputs = MakeOutputs(*signature);
    if (!outputs) return std::unexpected(outputs.error());
    inputs_ = std::move(*inputs);
    outputs_ = std::move(*outputs);
    return {};
  }

  // Registers the model, and sets name_.
  Result<std::unique_ptr<Host>> NewHost(bool metrics) {
    cli::HostFlags flags = options_.host;
    std::error_code ignored;
    name_ = options_.model;
    if (std::filesystem::exists(options_.model, ignored)) {
      name_ = settings::LastComponent(options_.model);
      flags.models.push_back({.name = name_, .paths = {options_.model}});
    }
    flags.settings.insert(flags.settings.begin(), {"threads", "1"});
    if (metrics) flags.settings.emplace_back("metrics", "true");
    wasinn::Result<Host> host = cli::MakeHost(flags);
    if (!host) return std::unexpected(host.status().message());
    return std::make_unique<Host>(std::move(*host));
  }

  bool IsNamed(const ModelInfo& model) const {
    return model.name == name_ || model.name + ":" + std::to_string(model.version) == name_;
  }

  // Called after the host is there, because its backend creates the parts of the framework that an OS process has once.
  Result<void> OpenNative() {
    NativeOptions options{.threads = Threads(options_.host)};
    std::string encoding;
    for (const ModelInfo& model : host_->Models()) {  // the highest version comes last
      if (!IsNamed(model)) continue;
      options.path = model.path;
      options.library = model.library;
      encoding = model.encoding;
      report_.framework = model.framework;
    }
    auto native = LoadNative(encoding, options, inputs_, &outputs_);
    if (!native) return std::unexpected(native.error());
    native_model_ = std::move(*native);
    auto bound = native_model_->NewRunner();
    if (!bound) return std::unexpected(bound.error());
    native_ = std::move(*bound);
    report_.threads = options.threads;
    // Only Wasmtime runs components.
    report_.engine = IsOfComponents(options_.abi) ? "wasmtime" : options_.engine;
    report_.abi = NameOf(options_.abi);
    for (const Tensor& input : inputs_) report_.input_bytes += input.data.size();
    for (const Tensor& output : outputs_) report_.output_bytes += output.data.size();
    return AddNativeCopies();
  }

  Result<void> AddNativeCopies() {
    for (size_t i = 0; i < MaxGuests(); ++i) {
      auto bound = native_model_->NewRunner();
      if (!bound) return std::unexpected(bound.error());
      native_copies_.push_back(WithCopies(std::move(*bound), inputs_, outputs_));
    }
    return {};
  }

  Result<void> OpenGuest() {
    auto program = options_.compile               ? options_.compile()
                   : IsOfComponents(options_.abi) ? CompileComponent(options_.abi == Abi::kWit03)
                                                  : CompileModule(options_.engine, options_.abi == Abi::kOnce);
    if (!program) return std::unexpected(program.error());
    program_ = std::move(*program);
    return AddGuests(*host_);
  }

  Result<void> AddGuests(const Host& host) {
    for (size_t i = 0; i < MaxGuests(); ++i) {
      auto guest = program_->NewGuest(host, name_, inputs_, outputs_);
      if (!guest) return std::unexpected(guest.error());
      guests_.push_back(std::move(*guest));
    }
    return {};
  }

  Result<void> CompareOutputs() {
    if (!native_->Run()) return std::unexpected(native_->error());
    if (!guests_[0]->Run()) return std::unexpected(guests_[0]->error());
    report_.outputs_equal = true;
    for (size_t i = 0; i < outputs_.size(); ++i) {
      report_.outputs_equal = report_.outputs_equal && std::ranges::equal(native_->output(i), guests_[0]->output(i));
    }
    return {};
  }

  Result<void> CountCopies() {
    const wasinn_statistics before = guests_[0]->Statistics();
    for (int i = 0; i < 4; ++i) {
      if (!guests_[0]->Run()) return std::unexpected(guests_[0]->error());
    }
    const wasinn_statistics after = guests_[0]->Statistics();
    const auto computes = static_cast<double>(after.computes - before.computes);
    const auto sum = [](uint64_t in, uint64_t out) { return static_cast<double>(in + out); };
    report_.bytes_copied = sum(after.bytes_in - before.bytes_in, after.bytes_out - before.bytes_out) / computes;
    report_.copies = sum(after.copies_in - before.copies_in, after.copies_out - before.copies_out) / computes;
    return {};
  }

  Result<void> CompareAllocations() {
    constexpr uint64_t kInferences = 16;
    const auto native = CountAllocations(*native_, kInferences);
    if (!native) return std::unexpected(native.error());
    const auto guest = CountAllocations(*guests_[0], kInferences);
    if (!guest) return std::unexpected(guest.error());
    report_.native_allocations = *native;
    report_.guest_allocations = *guest;
    return {};
  }

  Result<void> TimeInferences() {
    Begin("single inferences");
    if (auto pinned = PinTo(FirstCpu()); !pinned) return std::unexpected(pinned.error());
    Runner* const sides[kSides] = {native_.get(), native_copies_[0].get(), guests_[0].get()};
    auto samples = MeasureLatency(sides, options_.budget);
    if (!samples) return std::unexpected(samples.error());
    for (int side = 0; side < kSides; ++side) {
      report_.samples = (*samples)[side].size();
      report_.latency_us[side] = PercentilesUs(std::move((*samples)[side]));
    }
    return {};
  }

  Result<void> TimeEmptyCall() {
    class Nothing final : public Runner {
     public:
      explicit Nothing(GuestRunner& guest) : guest_(guest) {}
      bool Run() override { return guest_.CallNothing(); }
      std::string error() const override { return guest_.error(); }

     private:
      GuestRunner& guest_;
    };
    Nothing nothing(*guests_[0]);
    Runner* const sides[] = {&nothing};
    auto samples = MeasureLatency(sides, {.iterations = 10'000});
    if (!samples) return std::unexpected(samples.error());
    report_.empty_call_us = PercentilesUs(std::move((*samples)[0])).p50;
    return {};
  }

  // What a guest pays that calls wasi-nn in a loop, instead of being called for each inference.
  Result<void> TimeLoops() {
    Begin("loops of the guest's own");
    class Native final : public Runner {
     public:
      explicit Native(Runner& native) : native_(native) {}
      bool Run() override {
        for (uint32_t i = 0; i < kLoop; ++i) {
          if (!native_.Run()) return false;
        }
        return true;
      }
      std::string error() const override { return native_.error(); }

     private:
      Runner& native_;
    };
    class Loop final : public Runner {
     public:
      explicit Loop(GuestRunner& guest) : guest_(guest) {}
      bool Run() override { return guest_.RunMany(kLoop); }
      std::string error() const override { return guest_.error(); }

     private:
      GuestRunner& guest_;
    };
    Native native(*native_copies_[0]);
    Loop loop(*guests_[0]);
    Runner* const sides[] = {&native, &loop};
    Budget budget = options_.budget;
    if (budget.iterations > 0) budget.iterations = (budget.iterations + kLoop - 1) / kLoop;
    auto samples = MeasureLatency(sides, budget);
    if (!samples) return std::unexpected(samples.error());
    const Percentiles of_native = PercentilesUs(std::move((*samples)[0]));
    const Percentiles of_guest = PercentilesUs(std::move((*samples)[1]));
    report_.loop_p50 = {of_native.p50 / kLoop, of_guest.p50 / kLoop};
    report_.loop_p90 = {of_native.p90 / kLoop, of_guest.p90 / kLoop};
    report_.loop_p99 = {of_native.p99 / kLoop, of_guest.p99 / kLoop};
    return {};
  }

  Result<void> TimeLevels() {
    const std::vector<Runner*> natives = Pointers(native_copies_), guests = Pointers(guests_);
    for (const size_t n : options_.concurrency) {
      Begin(fmt::format("rates of {}", n));
      auto rates =
          MeasureRates(std::span(natives).first(n), std::span(guests).first(n), options_.budget, options_.cpus);
      if (!rates) return std::unexpected(rates.error());
      report_.levels.push_back({.guests = n,
                                .native_per_s = rates->a,
                                .guest_per_s = rates->b,
                                .ratio = rates->ratio,
                                .spread = rates->spread,
                                .native_us = PercentilesUs(std::move(rates->samples_a)),
                                .guest_us = PercentilesUs(std::move(rates->samples_b))});
    }
    report_.model = options_.model;
    report_.cpus = options_.cpus;
    report_.budget = options_.budget;
    return {};
  }

  // Comes last, on another host, because a host that measures steps reads clocks.
  Result<void> TimeSteps() {
    if (!options_.steps) return {};
    guests_.clear();
    auto host = NewHost(true);
    if (!host) return std::unexpected(host.error());
    host_ = std::move(*host);
    if (auto added = AddGuests(*host_); !added) return added;
    const std::vector<Runner*> guests = Pointers(guests_);
    for (Level& level : report_.levels) {
      Begin(fmt::format("steps of {}", level.guests));
      StepSums before;
      const auto all = MeasureTogether(std::span(guests).first(level.guests), OfSteps(options_.budget), options_.cpus,
                                       [&] { before = ReadSteps(); });
      if (!all) return std::unexpected(all.error());
      level.steps = MeanSteps(before, ReadSteps(), all->samples);
    }
    return {};
  }

  StepSums ReadSteps() const {
    const wasinn::Result<std::string> metrics = host_->Metrics();
    if (!metrics) return {};  // no memory
    for (const ModelInfo& model : host_->Models()) {
      if (IsNamed(model)) return ParseSteps(*metrics, model.name);
    }
    return {};
  }

  void Begin(const std::string& step) const {
    if (options_.on_step) options_.on_step(step);
  }

  size_t MaxGuests() const { return options_.concurrency.back(); }
  std::span<const int> FirstCpu() const { return std::span(options_.cpus).first(options_.cpus.empty() ? 0 : 1); }

  const Options& options_;
  Report report_;
  std::string name_;  // of the model, in the host
  std::vector<Tensor> inputs_, outputs_;
  std::unique_ptr<Host> host_;
  std::unique_ptr<NativeModel> native_model_;
  std::unique_ptr<NativeRunner> native_;
  std::vector<std::unique_ptr<Runner>> native_copies_;
  std::unique_ptr<GuestProgram> program_;
  std::vector<std::unique_ptr<GuestRunner>> guests_;
};

}  // namespace

const char* NameOf(Abi abi) {
  switch (abi) {
    case Abi::kWitx:
      return "witx";
    case Abi::kOnce:
      return "once";
    case Abi::kWit:
      return "wit";
    case Abi::kWit03:
      return "wit-0.3";
  }
  return "";
}

size_t StepsOf(const Options& options) {
  const size_t of_level = options.steps ? 2 : 1;
  return 2 + of_level * options.concurrency.size();
}

Result<Report> Measure(const Options& options) { return Bench(options).Run(); }

}  // namespace wasinn::bench
