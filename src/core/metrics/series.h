// The counters of one model on one backend, and reports to the embedder of how long each step took. Labels come only
// from the host: guests' own models share one series for each backend, so that no guest makes the set of series grow.
#pragma once

#include <wasinn/wasinn.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "core/metrics/histogram.h"
#include "core/runtime/clock.h"

namespace wasinn::core {

class ModelMetrics;

// The whole inference, and its steps as in Triton.
enum class Stage : uint8_t { kInference, kQueue, kInput, kCompute, kOutput };
inline constexpr size_t kStages = 5;
// "compute_input" and so on: names of spans, and parts of metrics' names.
const char* StageName(Stage stage);

// A guest, as spans name it. It owns the name.
struct GuestTag {
  uint64_t number = 0;  // 0: none, the host's own work
  const char* name = "";
};

// A host's function for spans. Thread-safe.
class Spans {
 public:
  Spans() = default;
  Spans(wasinn_span_fn function, void* user) : function_(function), user_(user) {}

  bool wanted() const { return function_ != nullptr; }
  uint64_t NewInference() { return inferences_.fetch_add(1, std::memory_order_relaxed) + 1; }

  // A step that ends now on this thread. `inference`: its number; 0: the step is a load.
  void Report(const char* name, wasinn_code code, const GuestTag& guest, uint64_t inference, const ModelMetrics& model,
              const std::string& backend, SteadyClock::time_point began, SteadyClock::time_point ended) const;

 private:
  const wasinn_span_fn function_ = nullptr;
  void* const user_ = nullptr;
  std::atomic<uint64_t> inferences_{0};
};

class Meter;
class Scheduler;

// One more than the largest code.
inline constexpr size_t kCodes = WASINN_ERROR_LOST + 1;

// Events that have an outcome.
enum class Event : uint8_t { kInference, kStep };
inline constexpr size_t kEvents = 2;

// Thread-safe.
class Series {
 public:
  using Outcomes = std::array<uint64_t, kCodes>;
  struct Reading {
    std::array<Outcomes, kEvents> events{};
    std::array<Histogram::Sum, kStages> stages{};
    Outcomes loads{};
    Histogram::Sum load_times{};
    uint64_t batches = 0, batch_rows = 0;
    size_t graphs = 0, contexts = 0, waiting = 0;  // current
  };
  Reading Read() const;

  // Adds a context's meter until the context is destroyed; its counts stay.
  void Join(const Meter& meter);
  void Leave(const Meter& meter);
  // Counts a failure. Contexts count successes themselves.
  void CountFailure(Event event, wasinn_code code) {
    failures_[static_cast<size_t>(event)][static_cast<size_t>(code)].fetch_add(1, std::memory_order_relaxed);
  }
  void CountLoad(wasinn_code code, std::chrono::nanoseconds duration);

  // Adds a graph while it is loaded. Its computes wait in `scheduler`, which may be NULL.
  void Join(const Scheduler* scheduler);
  void Leave(const Scheduler* scheduler);

 private:
  static void Add(const Meter& meter, Reading& sum);

  std::array<std::array<std::atomic<uint64_t>, kCodes>, kEvents> failures_{};
  mutable std::mutex mutex_;  // guards the members below: each context's work is in one of both, never in neither
  Reading gone_;              // sums of destroyed contexts; and loads
  Histogram load_times_;
  std::set<const Meter*> meters_;
  std::multiset<const Scheduler*> graphs_;
};

// The series of one model, by backend; it may have several over time.
class ModelMetrics {
 public:
  // No version: all models that guests brought.
  ModelMetrics(std::string name, std::optional<uint32_t> version) : name_(std::move(name)), version_(version) {}

  const std::string& name() const { return name_; }
  std::optional<uint32_t> version() const { return version_; }
  // "": unknown.
  Series& Of(const std::string& backend) {
    const std::lock_guard lock(mutex_);
    return series_[backend];
  }
  template <typename F>
  void WithEach(F&& function) const {
    const std::lock_guard lock(mutex_);
    for (const auto& [backend, series] : series_) function(backend, series);
  }

 private:
  const std::string name_;
  const std::optional<uint32_t> version_;
  mutable std::mutex mutex_;
  std::map<std::string, Series> series_;  // elements never move
};

// For a loaded graph.
class GraphMetrics {
 public:
  GraphMetrics(std::shared_ptr<ModelMetrics> model, std::string backend, const Scheduler* scheduler)
      : model_(std::move(model)), backend_(std::move(backend)), series_(model_->Of(backend_)), scheduler_(scheduler) {
    series_.Join(scheduler_);
  }
  ~GraphMetrics() { series_.Leave(scheduler_); }
  GraphMetrics(const GraphMetrics&) = delete;
  GraphMetrics& operator=(const GraphMetrics&) = delete;

  const ModelMetrics& model() const { return *model_; }
  const std::string& backend() const { return backend_; }
  Series& series() const { return series_; }

 private:
  const std::shared_ptr<ModelMetrics> model_;
  const std::string backend_;
  Series& series_;
  const Scheduler* const scheduler_;
};

}  // namespace wasinn::core
