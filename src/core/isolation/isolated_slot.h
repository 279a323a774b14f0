// A slot in a worker: inputs are copied to a segment that the worker reads; the worker writes outputs to another one.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <vector>

#include "core/isolation/isolated_graph.h"
#include "core/isolation/segment.h"

namespace wasinn::isolation {

// One thread at a time, except for Cancel.
class IsolatedSlot {
 public:
  static core::Result<std::unique_ptr<IsolatedSlot>> Make(IsolatedGraph& graph, const wasinn_slot_options& options);
  ~IsolatedSlot();
  IsolatedSlot(const IsolatedSlot&) = delete;
  IsolatedSlot& operator=(const IsolatedSlot&) = delete;
  static IsolatedSlot& Of(wasinn_backend_slot* slot) { return *reinterpret_cast<IsolatedSlot*>(slot); }

  // The worker gets it with the next compute.
  void Bind(uint32_t index, const wasinn_tensor& tensor);
  void Unbind(uint32_t index);
  void Reset();
  core::Status Compute(const wasinn_compute_options& options, wasinn_compute_result& result);
  core::Status Step();
  core::Status Finish() { return Ask(Op::kFinish); }
  core::Status Piece(uint32_t index, wasinn_tensor& view);
  core::Status Output(uint32_t index, wasinn_tensor& view);
  core::Status DynamicOutputs(const wasinn_io* const*& out, uint32_t& n) const;
  void Discard();
  void Cancel();

 private:
  struct Input {
    bool bound = false;
    bool sent = true;  // the worker has it
    TensorDesc desc;
    const void* data = nullptr;
    uint32_t segment = kArea;  // its segment
    uint64_t offset = 0;       // in the area; copied there for each compute
  };
  // An output of the last compute, or why there is none.
  struct Shown {
    TensorDesc desc;
    uint64_t offset = kNowhere;
    wasinn_code code = WASINN_OK;
    std::string message;
  };
  IsolatedSlot(IsolatedGraph& graph, void* account);
  core::Status MakeThere(const wasinn_slot_options& options);
  core::Status Ask(Op op);
  core::Status UseArea(Op op, Segment& area, base::Reservation& charged, uint64_t bytes, uint64_t free);
  // For a call with that operation.
  core::Status UseArea(Connection::Call& call, Segment& area, base::Reservation& charged, uint64_t bytes,
                       uint64_t free);
  static core::Status TooLarge(uint64_t bytes);
  core::Status ReplaceArea(Connection::Call& call, Segment& area, uint64_t bytes);
  core::Status PlaceInputs();
  core::Status PlaceOutputs();
  void CopyInputs() const;
  void WriteBindings(Writer& request);
  uint32_t ProcessorToUse() const;
  core::Status Run(Op op, const wasinn_compute_options* options, wasinn_compute_result* result);
  core::Status ReadShown(Connection::Call& call);
  core::Status ReadLate(Connection::Call& call, Reader& payload);
  static bool ReadOne(Reader& payload, const Segment& area, Shown& shown);
  core::Status AskToShow(Connection::Call& call) const;
  core::Status ShowAgain(Connection::Call& call, uint64_t needed);
  core::Status GrowOutputs(Connection::Call& call, uint64_t needed);
  core::Status ChargeWords(uint64_t bytes);
  core::Status ChargeOutputs();
  core::Status ShowPiece(uint32_t index, uint64_t& needed);
  core::Status Charge(const Connection::Call& call);
  static core::Status ViewOf(const Shown& shown, const Segment& area, wasinn_tensor& view);

  IsolatedGraph& graph_;
  Connection& connection_;
  const uint32_t number_;
  uint64_t fixed_outputs_ = 0;  // bytes of the signature's outputs
  base::Reservation reserved_, input_bytes_, output_bytes_, piece_bytes_;
  base::Reservation word_bytes_;  // for names and errors of outputs from the worker
  std::vector<Input> inputs_;
  Segment input_area_, output_area_, piece_area_;
  std::vector<Shown> shown_;
  Shown piece_;
  std::vector<uint8_t> late_bytes_;  // from the worker, for the last compute: the members below point there
  std::unique_ptr<Ios> late_;
  bool reset_ = false;   // before the next compute
  bool placed_ = false;  // every input has its place in the area
  bool made_ = false;
  bool shows_ = false;  // shown_ is from the last compute
  bool generates_ = false;
  std::atomic<uint64_t> turn_{0};  // number of the last compute or step
  // The time of the last compute or step, with both messages.
  std::chrono::nanoseconds took_ = std::chrono::nanoseconds::max();
  Connection::Interruption interruption_;
  // Its place among the computes of its worker. A compute that waits is no reason to end the worker.
  const core::Scheduler::Share share_{1, core::OnBehalf::guest(), &connection_};
  core::Scheduler::Waiter waiter_;
  std::atomic<bool> has_turn_{false};
};

}  // namespace wasinn::isolation
