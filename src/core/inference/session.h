// What runs requests on a graph, for one user at a time; made by the graph. The backend's session binds tensors and
// calls the framework; those of batches and pipelines run other graphs' sessions.
#pragma once

#include <wasinn/backend.h>

#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "core/inference/dynamic_outputs.h"
#include "core/inference/request.h"
#include "core/inference/scheduler.h"
#include "core/inference/shared_tensor.h"
#include "core/models/graph.h"

namespace wasinn::core {

class AsyncCompute;

// What a session and its context share with others. All of it outlives them.
struct Resources {
  TensorMemory memory;  // the quota also has what the backend keeps beside inputs and outputs
  Watchdog& watchdog;
  Scheduler& scheduler;     // of the host's computes
  Scheduler::Share& share;  // of its guest
  Meter::Of metered{};
  // Of a step of a pipeline: what is copied in and out counts there, where its pipeline's does. NULL: by itself.
  CopyCount* in = nullptr;
  CopyCount* out = nullptr;
  // Of a session within another one: what measures the outer one's context. NULL: nothing does.
  Meter* outer = nullptr;
};

// One thread at a time, but for Cancel.
class Session {
 public:
  virtual ~Session() = default;
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  const Graph& graph() const { return *graph_; }
  const std::shared_ptr<const Graph>& shared_graph() const { return graph_; }

  // Ahead of a run, so that what the framework has to say about an input is said when it is set. A run binds what is not
  // bound, and unbinds what is not set any more.
  virtual Status Bind(uint32_t /*index*/, const Input& /*input*/) { return Status(); }
  // Before its memory goes.
  virtual void Unbind(uint32_t /*index*/) {}
  // Memory for an input that the backend likes better than the host's, to be released as backend.h says; data NULL: it
  // likes none.
  virtual Status NewInputMemory(size_t /*bytes*/, wasinn_tensor& /*memory*/) { return Status(); }

  // The outputs of the last run are gone. If this one leaves outputs, they are there until the next run, step or Discard.
  virtual Status Run(const InferenceRequest& request) = 0;
  // From any thread: what runs ends soon.
  virtual void Cancel() = 0;

  // A run without a thread. If `goes_on` is set, `compute` is told the end, and then calls the other two.
  virtual bool can_run_async() const { return false; }
  virtual Status Begin(const InferenceRequest& /*request*/, AsyncCompute& /*compute*/, bool& /*goes_on*/) {
    return Status();
  }
  virtual void CloseGate() {}
  virtual Status End(const InferenceRequest& /*request*/, wasinn_error* /*error*/) { return Status(); }

  // Models that generate piece by piece, of which no other function of these is called before CheckSteps is content.
  virtual Status CheckSteps() const;
  virtual Status Step(const InferenceRequest& /*request*/) { return CheckSteps(); }
  virtual Status Piece(uint32_t /*index*/, wasinn_tensor& /*view*/) { return CheckSteps(); }
  // The backend's own end of a generation comes with the next run, step or input as well; this lets go of what it holds
  // for it. The outputs stay.
  void EndGeneration() {
    if (!generates()) return;
    at_ = kGenerated;
    Finish();
  }

  // ---- What the last run or step has left
  bool has_outputs() const { return at_ != kNothing; }
  bool generates() const { return at_ == kPiece || at_ == kNoPiece; }
  bool has_piece() const { return at_ == kPiece; }
  // The outputs are those of a generation, under way or ended.
  bool has_generated() const { return at_ >= kPiece; }
  // Nobody may see them any more. They are freed by the next run, or by Discard.
  void HideOutputs() { at_ = kNothing; }
  // Frees what can be freed of them.
  virtual void Discard() = 0;

  std::span<const wasinn_io* const> outputs() const {
    return dynamic_ != nullptr ? dynamic_->ios() : graph_->outputs();
  }
  // Only a run tells the outputs, and there was none.
  bool lacks_outputs() const { return graph_->has_dynamic_outputs() && dynamic_ == nullptr; }
  // What the names of `outputs` belong to.
  std::shared_ptr<const void> names_owner() const;
  // Of an output that is wanted and can be served. The view is good until the next run, step, Take or Discard.
  virtual Status View(uint32_t index, const wasinn_tensor*& view) = 0;
  // For good, with its memory if the backend gives it away: then there is no view any more.
  virtual Result<TensorPtr> Take(uint32_t index) = 0;
  // Before the first run: these outputs, ascending, may stay in the memory of the device that computes them. The caller
  // takes them, and gives them only to models that share that memory.
  virtual void Keep(std::span<const uint32_t> /*indices*/) {}

 protected:
  Session(std::shared_ptr<const Graph> graph, const Resources& resources)
      : graph_(std::move(graph)), resources_(resources), dynamic_bytes_(resources.memory.quota) {}
  virtual void Finish() {}

  void BeginRun() {
    at_ = kNothing;
    dynamic_.reset();
  }
  void BeginStep() {
    at_ = generates() ? kNoPiece : kNothing;
    dynamic_.reset();
  }
  void SetComputed() { at_ = kComputed; }
  void SetStepped(bool piece) { at_ = piece ? kPiece : kNoPiece; }
  Status SetDynamic(std::span<const wasinn_io* const> ios);

  const std::shared_ptr<const Graph> graph_;
  const Resources resources_;

 private:
  enum State : uint8_t {
    kNothing,
    kComputed,
    kPiece,    // a generation is under way, and its last step made a piece
    kNoPiece,  // … made none: it has come to an end
    kGenerated
  };
  State at_ = kNothing;
  std::shared_ptr<const DynamicOutputs> dynamic_;  // if the graph does not know its outputs
  Reservation dynamic_bytes_;                      // of it
};

// Of batches and pipelines: other graphs' sessions have made its outputs.
class ComposedSession : public Session {
 public:
  Status Run(const InferenceRequest& request) final;
  void Discard() final {
    HideOutputs();
    results_.clear();
  }
  Status View(uint32_t index, const wasinn_tensor*& view) final;
  Result<TensorPtr> Take(uint32_t index) final;

 protected:
  using Session::Session;
  virtual Status RunNow(const InferenceRequest& request) = 0;
  std::vector<TensorPtr> results_;  // by output; null: there is none, or it was taken

 private:
  wasinn_tensor view_{};
};

// A tensor over bytes that somebody else has, and that outlive it.
TensorPtr Borrowed(const Input& input);

}  // namespace wasinn::core
