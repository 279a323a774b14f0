// The counters of a host, for wasinn_host_metrics.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "core/memory/quota.h"
#include "core/metrics/series.h"

namespace wasinn::core {

struct MetricsOptions {
  bool times = false;  // of inferences and their steps
  wasinn_span_fn span = nullptr;
  void* user = nullptr;
};

// Thread-safe. It outlives everything that counts here.
class Metrics {
 public:
  explicit Metrics(const MetricsOptions& options)
      : timed_(options.times || options.span != nullptr), spans_(options.span, options.user) {}

  // Whether times are measured.
  bool timed() const { return timed_; }
  Spans& spans() { return spans_; }

  // The metrics of a registered name and version: the same object for all its users.
  std::shared_ptr<ModelMetrics> OfModel(const std::string& name, uint32_t version);
  // For all models that guests brought as bytes.
  const std::shared_ptr<ModelMetrics>& of_guests() const { return of_guests_; }
  // Named models in use, sorted by name and version; then those of guests.
  std::vector<std::shared_ptr<const ModelMetrics>> models() const;

  uint64_t NewGuest() { return guests_.fetch_add(1, std::memory_order_relaxed) + 1; }

  // By the error's code, and by the quota's setting.
  std::array<std::atomic<uint64_t>, kCodes> errors{};
  struct {
    Quota::Refusals contexts{0}, tensors{0}, errors{0}, graphs{0}, tensor_bytes{0}, model_bytes{0}, total_bytes{0};
  } refusals;
  std::atomic<uint64_t> log_lines_dropped{0};

 private:
  const bool timed_;
  Spans spans_;
  std::atomic<uint64_t> guests_{0};
  const std::shared_ptr<ModelMetrics> of_guests_ = std::make_shared<ModelMetrics>("guest", std::nullopt);
  mutable std::mutex mutex_;
  std::map<std::pair<std::string, uint32_t>, std::weak_ptr<ModelMetrics>> models_;
};

// Counts one attempt to load a model. It begins here.
class LoadMeter {
 public:
  LoadMeter(Metrics& metrics, std::shared_ptr<ModelMetrics> model, const GuestTag& guest)
      : metrics_(metrics), model_(std::move(model)), guest_(guest) {}
  // Reports the outcome; "": unknown backend.
  void End(wasinn_code code, const std::string& backend);

 private:
  Metrics& metrics_;
  const std::shared_ptr<ModelMetrics> model_;
  const GuestTag guest_;
  const SteadyClock::time_point began_ = SteadyClock::now();
};

class Host;

std::string MetricsText(Host& host);

}  // namespace wasinn::core
