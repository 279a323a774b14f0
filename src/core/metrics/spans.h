// Reports to the embedder how long each step took.
#pragma once

#include <wasinn/wasinn.h>

#include <atomic>
#include <cstdint>
#include <string>

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

}  // namespace wasinn::core
