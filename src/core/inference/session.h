// Runs requests on a graph, for one user at a time; the graph creates it. The backend's session binds tensors and calls
// the framework; those of batches and pipelines run other graphs' sessions.
#pragma once

#include <wasinn/backend.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/inference/scheduler.h"
#include "core/inference/shared_tensor.h"
#include "core/memory/tensor.h"
#include "core/metrics/meter.h"
#include "core/models/graph.h"
#include "core/runtime/watchdog.h"

namespace wasinn::core {

// Writes to the standard output of a guest's program. As in wasinn_guest_options.
struct Printer {
  void (*print)(void* user, const char* text, size_t size) = nullptr;
  void* user = nullptr;
};

// An input as a session sees it. Its bytes stay where they are until the session has unbound it, or has another input.
struct Input {
  bool set = false;
  bool borrowed = false;           // the bytes are the request's: the session unbinds them after its run
  uint64_t version = 0;            // changes if the session must bind it again; never 0 if it is set
  TensorDesc desc;                 // for the framework
  std::span<const uint8_t> bytes;  // addresses of the host's memory, unless the tensor is on a device
  TensorPtr tensor;                // the owner of the bytes; NULL: another object owns them
};

struct InferenceRequest {
  std::span<const Input> inputs;          // one for each input of the model
  uint64_t inputs_version = 0;            // changes with each input that is changed, set or unset; 0: unknown
  std::span<const uint32_t> wanted;       // outputs, ascending, none twice; none: all
  std::span<void* const> destinations;    // by output; none, or NULL: the framework chooses its place
  std::chrono::milliseconds time_left{};  // for the framework; 0: no deadline
  uint64_t max_bytes = 0;                 // as in wasinn_compute_options
  const Printer* printer = nullptr;       // for pieces of a text; NULL: they are not wanted
  const std::function<void()>* at_turn =
      nullptr;                   // called when nothing more is waited for; throws nothing; may be NULL
  const Watched* run = nullptr;  // may be cancelled
  Meter* meter = nullptr;

  bool cancelled() const { return run->cancelled(); }
};

// Whether a run or step with this status has outputs: a generative model that has filled its context has some.
inline bool LeavesOutputs(const Status& status) {
  return status.ok() || status.code() == WASINN_ERROR_CONTEXT_FULL || status.code() == WASINN_ERROR_END_OF_SEQUENCE;
}

class AsyncCompute;

// The outputs of a model whose outputs are only known after a run. A copy of a backend's list: a guest's list of names
// may outlive the next compute.
class DynamicOutputs {
 public:
  // More than any model has, and cheap to keep.
  static constexpr uint32_t kMax = 4096;
  static constexpr uint64_t kFree = 64u << 10;

  explicit DynamicOutputs(std::span<const wasinn_io* const> ios) {
    for (const wasinn_io* io : ios) {
      wasinn_io& copy = ios_.emplace_back(*io);  // of this version's size, which was checked
      copy.struct_size = sizeof(wasinn_io);
      copy.name = names_.emplace_back(io->name).c_str();
      if (io->rank > 0) copy.dims = dims_.emplace_back(io->dims, io->dims + io->rank).data();
      pointers_.push_back(&copy);
      bytes_ +=
          sizeof(wasinn_io) + names_.back().size() + static_cast<uint64_t>(std::max(io->rank, 0)) * sizeof(int64_t);
    }
  }
  DynamicOutputs(const DynamicOutputs&) = delete;
  DynamicOutputs& operator=(const DynamicOutputs&) = delete;

  std::span<const wasinn_io* const> ios() const { return pointers_; }
  // The bytes for which a guest pays. Most models' lists are tiny compared with its tensors, and free.
  uint64_t bytes() const { return bytes_ <= kFree ? 0 : bytes_; }

 private:
  std::deque<std::string> names_;
  std::deque<std::vector<int64_t>> dims_;
  std::deque<wasinn_io> ios_;
  std::vector<const wasinn_io*> pointers_;
  uint64_t bytes_ = 0;
};

// Objects that a session and its context share with others. They outlive both.
struct Resources {
  TensorMemory memory;  // its quota also has what the backend keeps besides inputs and outputs
  Watchdog& watchdog;
  Scheduler& scheduler;  // for the host's computes
  const Share& share;    // of its guest
  Meter::Of metered{};
  // For a step of a pipeline: copies count there, where the pipeline's do. NULL: the session counts its own.
  CopyCount* in = nullptr;
  CopyCount* out = nullptr;
  // For a session within another one: the meter of the outer one's context. NULL: there is none.
  Meter* outer = nullptr;
};

// One thread at a time, except for Cancel.
class Session {
 public:
  virtual ~Session() = default;
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  const Graph& graph() const { return *graph_; }

  // Binds before a run, so that the framework's error about an input comes when it is set. A run binds inputs that are
  // not bound, and unbinds those that are not set any more.
  virtual Status Bind(uint32_t /*index*/, const Input& /*input*/) { return Status(); }
  // Called before its memory is freed.
  virtual void Unbind(uint32_t /*index*/) {}
  // Memory for an input that the backend prefers to the host's, released as backend.h says. data NULL: it prefers none.
  virtual Status NewInputMemory(size_t /*bytes*/, wasinn_tensor& /*memory*/) { return Status(); }

  // Frees the outputs of the last run. Outputs of this run stay until the next run, step or Discard.
  virtual Status Run(const InferenceRequest& request) = 0;
  // From any thread: a current run ends soon.
  virtual void Cancel() = 0;

  // Runs without a thread. If `goes_on` is set, `compute` gets the report of the end, and then calls the other two.
  virtual bool can_run_async() const { return false; }
  virtual Status Begin(const InferenceRequest& /*request*/, AsyncCompute& /*compute*/, bool& /*goes_on*/) {
    return Status();
  }
  virtual void CloseGate() {}
  virtual Status End(const InferenceRequest& /*request*/, wasinn_error* /*error*/) { return Status(); }

  // For models that generate piece by piece: none of these functions is called before CheckSteps succeeds.
  virtual Status CheckSteps() const;
  virtual Status Step(const InferenceRequest& /*request*/) { return CheckSteps(); }
  virtual Status Piece(uint32_t /*index*/, wasinn_tensor& /*view*/) { return CheckSteps(); }
  // The backend ends its generation with the next run, step or input; this releases what the session holds for it. The
  // outputs stay.
  void EndGeneration() {
    if (!generates()) return;
    at_ = kGenerated;
    Finish();
  }

  // ---- Outputs of the last run or step
  bool has_outputs() const { return at_ != kNothing; }
  bool generates() const { return at_ == kPiece || at_ == kNoPiece; }
  bool has_piece() const { return at_ == kPiece; }
  // The outputs are those of a generation, current or ended.
  bool has_generated() const { return at_ >= kPiece; }
  // From now on no caller may see them. The next run or Discard frees them.
  void HideOutputs() { at_ = kNothing; }
  // Frees as many of them as it can.
  virtual void Discard() = 0;

  std::span<const wasinn_io* const> outputs() const {
    return dynamic_ != nullptr ? dynamic_->ios() : graph_->outputs();
  }
  // The outputs are only known after a run, and there was none.
  bool lacks_outputs() const { return graph_->has_dynamic_outputs() && dynamic_ == nullptr; }
  // The owner of the names of `outputs`.
  std::shared_ptr<const void> names_owner() const;
  // For an output that is wanted and can be served. The view is valid until the next run, step, Take or Discard.
  virtual Status View(uint32_t index, const wasinn_tensor*& view) = 0;
  // Takes the output for good, with its memory if the backend gives it away: then there is no view any more.
  virtual Result<TensorPtr> Take(uint32_t index) = 0;
  // Called before the first run: these outputs, ascending, may stay in the memory of the device that computes them. The
  // caller takes them, and gives them only to models that share that memory.
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
    kPiece,    // a generation goes on, and its last step made a piece
    kNoPiece,  // the same, but the step made none: the generation is complete
    kGenerated
  };
  State at_ = kNothing;
  std::shared_ptr<const DynamicOutputs> dynamic_;  // if the graph does not know its outputs
  Reservation dynamic_bytes_;                      // for dynamic_
};

// For batches and pipelines: other graphs' sessions have made the outputs.
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
  std::vector<TensorPtr> results_;  // by output; NULL: there is none, or it was taken

 private:
  wasinn_tensor view_{};
};

// A tensor over bytes that another object owns, and that outlive it.
TensorPtr Borrowed(const Input& input);

}  // namespace wasinn::core
