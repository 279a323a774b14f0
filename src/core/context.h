// One inference in flight: bound inputs, outputs, the framework's request object. One thread at a time; a second one
// gets `busy`.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/copy.h"
#include "core/graph.h"
#include "core/quota.h"
#include "core/tensor.h"

namespace wasinn::core {

class Context {
 public:
  struct Options {
    std::chrono::milliseconds compute_deadline{0};  // 0: none
    uint64_t max_compute_bytes = 0;                 // as in wasinn_context_options
  };
  // `tensor_bytes` is what inputs and outputs are charged to; it and `watchdog` must outlive the context.
  static Result<std::shared_ptr<Context>> Create(std::shared_ptr<const Graph> graph, const Options& options,
                                                 Quota& tensor_bytes, Watchdog& watchdog);
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  // Copies `bytes` into the framework's memory as input `index`.
  Status SetInput(uint32_t index, const TensorDesc& given, std::span<const uint8_t> bytes, CopyCount& count);
  Status Compute();
  // Copies output `index` into the beginning of `buffer`. `size` is set to the output's size, also if the buffer is too
  // small for it: then nothing is copied and the status is TOO_LARGE.
  Status GetOutput(uint32_t index, std::span<uint8_t> buffer, uint64_t& size, CopyCount& count);

  // From any thread: what runs ends soon, what comes later is refused.
  void CancelForGood();

 private:
  struct Input {
    bool set = false;
    Charge charge;
  };
  class Busy;  // holds busy_ during one call

  Context(std::shared_ptr<const Graph> graph, const Options& options, Quota& tensor_bytes, Watchdog& watchdog);
  Status Open(uint64_t max_compute_bytes);
  Status ChargeStaticOutputs();
  Status ChargeDynamicOutputs();
  void DiscardOutputs();
  Status CheckInputsSet() const;
  Status Fill(uint32_t index, const TensorDesc& tensor, std::span<const uint8_t> bytes, CopyCount& count);
  Status View(uint32_t index, wasinn_tensor& view) const;
  Status Failed(Status status, bool overdue) const;
  const wasinn_backend& table() const { return graph_->backend().table(); }

  const std::shared_ptr<const Graph> graph_;
  const std::chrono::milliseconds compute_deadline_;
  wasinn_backend_context* context_ = nullptr;
  std::vector<Input> inputs_;
  Charge static_outputs_, dynamic_outputs_;
  bool has_dynamic_outputs_ = false;
  bool computed_ = false;  // the outputs of a successful compute are there
  std::atomic<bool> busy_{false};
  Watched run_;
  std::optional<Watchdog::Watch> watch_;  // goes before the framework's object
};

}  // namespace wasinn::core
