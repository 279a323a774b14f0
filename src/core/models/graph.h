// A loaded, compiled, immutable model. All guests that name it share it; contexts keep it alive.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/tensor_bytes.h"
#include "core/inference/scheduler.h"
#include "core/inference/slot_pool.h"
#include "core/memory/quota.h"
#include "core/metrics/series.h"
#include "core/models/backend.h"
#include "core/models/blob.h"
#include "core/runtime/watchdog.h"

namespace wasinn::core {

class Session;
struct Resources;

class Graph {
 public:
  struct LoadOptions {
    std::string encoding;  // a format's name; "" must be resolved before a load
    wasinn_target target = WASINN_TARGET_CPU;
    std::string host_config = "{}";
    std::string guest_config = "{}";
    std::string backend;  // its name; "": the default for the encoding
    bool cpu_fallback = false;
    bool isolated_gpu = false;                // its worker may use devices
    uint64_t max_bytes = 0;                   // as in wasinn_load_options
    std::chrono::milliseconds deadline{0};    // 0: none
    std::chrono::milliseconds limit{0};       // the whole deadline, if the other is the rest of one; 0: the same
    const std::atomic<bool>* stop = nullptr;  // becomes true: the load should end soon
    std::shared_ptr<Quota> account;           // the backend charges what the model keeps to it; NULL: to the host
    std::shared_ptr<ModelMetrics> metrics;    // counts it; NULL: no counters
    GuestTag loader;                          // the guest that loads it
  };
  // Loads a model into a backend's framework.
  static Result<std::shared_ptr<Graph>> Load(std::shared_ptr<Backend> backend,
                                             std::span<const std::shared_ptr<const Blob>> parts,
                                             const LoadOptions& options, Watchdog& watchdog);
  virtual ~Graph() = default;
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  // `self` is this graph, with the charges of its user. `options` have no account. `most` runs go on at once.
  virtual Result<std::unique_ptr<Session>> NewSession(std::shared_ptr<const Graph> self,
                                                      const wasinn_slot_options& options, uint32_t most,
                                                      const Resources& resources) const = 0;
  // The backend whose tensors it computes on; NULL: those of its steps.
  virtual const Backend* backend() const = 0;
  // For messages.
  virtual const char* backend_name() const { return backend()->table().name; }
  // A JSON object, or NULL.
  virtual const char* description() const = 0;
  // Its worker is gone, and each call fails: a user that needs the model must load it again.
  virtual bool lost() const = 0;
  // The bytes that the backend kept at its load.
  virtual uint64_t kept() const { return 0; }

  const std::string& encoding() const { return encoding_; }
  std::span<const wasinn_io* const> inputs() const { return {info_.inputs, info_.n_inputs}; }
  // Empty if they are only known after a run.
  std::span<const wasinn_io* const> outputs() const {
    return {info_.outputs, has_dynamic_outputs() ? 0 : info_.n_outputs};
  }
  bool has_dynamic_outputs() const { return info_.n_outputs == WASINN_COUNT_UNKNOWN; }
  // By the model's own name, or else by a decimal index, as guests of Wasmtime's OpenVINO backend write it. An only
  // input may accept any name (WASINN_IO_ANY_NAME). INVALID_ARGUMENT lists the names.
  Result<uint32_t> FindInput(std::string_view name) const { return Find(input_names_, inputs(), "input", name); }
  Result<uint32_t> FindOutput(std::string_view name) const { return Find(output_names_, outputs(), "output", name); }
  // For a list that belongs to no graph.
  static Result<uint32_t> FindIn(std::span<const wasinn_io* const> ios, const char* what, std::string_view name) {
    return Find(NamesOf(ios), ios, what, name);
  }
  // Whether results may depend on earlier computes of the same slot, by the backend's information.
  bool is_stateful() const { return (info_.flags & WASINN_GRAPH_STATEFUL) != 0; }
  // The alignment that a framework needs for bytes that it reads or writes in place.
  size_t AlignOf(uint32_t dtype) const {
    const size_t align = bind_align_ != 0 ? bind_align_ : WASINN_TENSOR_ALIGNMENT;
    return std::max(align, base::ElementSize(dtype));
  }
  // The memory of its device; NULL: the host's.
  const char* memory() const { return info_.memory; }
  // Whether tensors in the memory of `other` can be inputs of this model.
  bool shares_memory_with(const Graph& other) const {
    return memory() != nullptr && other.memory() != nullptr && backend() == other.backend() &&
           std::string_view(memory()) == other.memory();
  }

  // For its computes, if the backend limits how many run at once; else NULL. The second function: whether they count as
  // the host's.
  Scheduler* scheduler() const { return scheduler_.get(); }
  bool counts_among_computes() const { return info_.max_parallel != UINT32_MAX; }
  // The host's scheduler knows its turns by this. NULL: a guest made or configured it, and could make any number of such
  // graphs.
  const void* turns() const { return is_hosts_ ? this : nullptr; }
  // The counters of its contexts; NULL: none.
  const GraphMetrics* metrics() const { return metrics_.get(); }

 protected:
  explicit Graph(const LoadOptions& options)
      : encoding_(options.encoding), is_hosts_(options.account == nullptr && options.guest_config == "{}") {}
  // The lists of `info` live as long as the graph. `metrics` counts it; NULL: no counters.
  void SetInfo(const wasinn_info& info, uint32_t bind_align, std::shared_ptr<ModelMetrics> metrics);
  const wasinn_info& info() const { return info_; }

 private:
  using Names = std::unordered_map<std::string_view, uint32_t>;
  static Names NamesOf(std::span<const wasinn_io* const> ios);
  static Result<uint32_t> Find(const Names& names, std::span<const wasinn_io* const> ios, const char* what,
                               std::string_view name);

  const std::string encoding_;
  const bool is_hosts_;
  wasinn_info info_{};
  uint32_t bind_align_ = 0;
  std::unique_ptr<Scheduler> scheduler_;
  std::unique_ptr<GraphMetrics> metrics_;  // after the scheduler, which it reads
  Names input_names_, output_names_;       // the model owns the strings
};

// A model that a backend has loaded, in the host's process or in a worker.
class BackendGraph final : public Graph {
 public:
  BackendGraph(std::shared_ptr<Backend> backend, const LoadOptions& options)
      : Graph(options), backend_(std::move(backend)), account_(options.account) {}
  ~BackendGraph() override;

  Result<std::unique_ptr<Session>> NewSession(std::shared_ptr<const Graph> self, const wasinn_slot_options& options,
                                              uint32_t most, const Resources& resources) const override;
  const Backend* backend() const override { return backend_.get(); }
  const char* description() const override;
  bool lost() const override { return lost_.load(std::memory_order_relaxed) || backend_->IsLost(model_); }
  uint64_t kept() const override { return kept_; }

  wasinn_backend_graph* model() const { return model_; }
  // NULL if sessions share no slots.
  SlotPool* slots() const { return slots_.get(); }
  // Takes over the error of a slot of this model; NULL is success.
  [[gnu::always_inline]] Status Take(wasinn_error* error) const {
    return error == nullptr ? Status() : RecordLoss(backend_->Take(error));
  }
  // Records the loss if the error of a slot shows it; returns the same status.
  Status RecordLoss(Status status) const;

 private:
  friend class Graph;
  Status ReadInfo(std::shared_ptr<ModelMetrics> metrics);

  const std::shared_ptr<Backend> backend_;
  const std::shared_ptr<Quota> account_;  // the backend has its address until the model is unloaded
  uint64_t kept_ = 0;
  wasinn_backend_graph* model_ = nullptr;  // constant after the load
  std::unique_ptr<SlotPool> slots_;
  mutable std::atomic<bool> lost_{false};
};

// A JSON object, as documented in guest/wit/deps/wasinn-ext/ext.wit. UTF-8, whatever the model's names are.
std::string DescribeAsJson(const Graph& graph);

}  // namespace wasinn::core
