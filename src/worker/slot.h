// A slot of a worker: its inputs and outputs are in areas from the host.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <vector>

#include "worker/objects.h"

namespace wasinn::worker {

class Slot {
 public:
  Slot(std::shared_ptr<Graph> graph, uint64_t most_bytes)
      : graph_(std::move(graph)), account_("bytes besides a context", "limits.max_tensor_bytes", most_bytes) {}
  ~Slot();
  Slot(const Slot&) = delete;
  Slot& operator=(const Slot&) = delete;

  core::Status Open(uint64_t max_bytes, const std::string& config);
  core::Status UseInputArea(isolation::Segment area);
  core::Status UseOutputArea(isolation::Segment area);
  void UsePieceArea(isolation::Segment area) { piece_area_ = std::move(area); }
  core::Status Compute(isolation::Reader& request, isolation::Writer& payload);
  core::Status Step(isolation::Reader& request, isolation::Writer& payload);
  core::Status Show(isolation::Reader& request, isolation::Writer& payload);
  core::Status Piece(uint32_t index, isolation::Writer& payload);
  core::Status Finish();
  void Discard();
  void Interrupt(uint64_t turn);

  const Graph& graph() const { return *graph_; }
  uint64_t reserved() const { return account_.used(); }

 private:
  // An output that is not bound, in the backend's view.
  struct View {
    core::Status status;
    isolation::TensorDesc desc;  // copied, because a backend may use the same memory for all
    const void* data = nullptr;
    uint64_t offset = isolation::kNowhere;
    bool bound = false;
  };

  const wasinn_backend& table() const { return graph_->backend.table(); }
  core::Status Take(wasinn_error* error) const { return graph_->backend.Take(error); }
  core::Status Reset();
  core::Status Bind(isolation::Reader& request);
  core::Status BindOne(isolation::Reader& request);
  core::Status BindOutputs();
  core::Result<std::span<const wasinn_io* const>> OutputsNow(isolation::Writer& payload) const;
  void TakeView(wasinn_error* error, const wasinn_tensor& tensor, View& view) const;
  View ViewOf(uint32_t index, const wasinn_io& io) const;
  static uint64_t Place(std::span<View> views, uint64_t end);
  static void WriteView(const View& view, const isolation::Segment& area, isolation::Writer& payload);
  core::Status WriteOutputs(isolation::Writer& payload);

  const std::shared_ptr<Graph> graph_;
  core::Quota account_;
  Gate gate_;
  wasinn_backend_slot* slot_ = nullptr;
  isolation::Segment input_area_, output_area_, piece_area_;
  std::map<uint32_t, std::shared_ptr<isolation::Segment>> shared_;  // those with bound inputs, whatever the host does
  std::vector<uint64_t> bound_at_;                                  // offsets of bound outputs; kNowhere: not bound
  uint64_t bound_bytes_ = 0;                                        // of the area, at its beginning
  bool elsewhere_ = false;                                          // the bound memory was not written
  bool computed_ = false;
  std::vector<uint32_t> wanted_;  // for the current compute
  std::vector<View> views_;
};

}  // namespace wasinn::worker
