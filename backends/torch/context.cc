// One inference in flight, and the runtime's table of functions.
#include <c10/core/InferenceMode.h>
#include <torch/csrc/jit/api/module.h>
#include <wasinn/backend.h>

#include <algorithm>
#include <span>
#include <string_view>
#include <vector>

#include "common/bases.h"
#include "common/reservation.h"
#include "common/table.h"
#include "common/throw.h"
#include "torch/call_scope.h"
#include "torch/model.h"
#include "torch/tensors.h"

namespace wasinn::torch {

using backend::Error;
using backend::Throw;

// Cancel reaches allocations, and each round of a loop; a running operator is not interrupted.
class Context : public backend::ContextBase {
 public:
  Context(const Model& model, const wasinn_slot_options& options);

  void Compute();
  void Output(uint32_t index, wasinn_tensor* view) {
    backend::CheckComputed(computed_);
    outputs_.View(index, view);
  }
  void DiscardOutputs() {
    computed_ = false;
    outputs_.Clear();
  }
  void BindInput(uint32_t index, const wasinn_tensor& tensor) { inputs_.Bind(index, tensor); }
  void UnbindInput(uint32_t index) { inputs_.Unbind(index); }
  void TakeOutput(uint32_t index, wasinn_tensor* out) {
    backend::CheckComputed(computed_);
    outputs_.Take(index, out);
  }
  std::span<const wasinn_io* const> Outputs() {
    backend::CheckComputed(computed_);
    return outputs_.Ios();
  }

 private:
  void Run();
  void RunPackage();
  void ChargeState();
  void ChargeFailed();
  // Restores the model's state after its load.
  void ForgetState() {
    static const CallScope::Subject nobody;
    const CallScope scope(nobody);
    module_ = model_.ModuleForContext();
    kept_.Resize(model_.copy_bytes());
  }
  [[noreturn]] void Fail() const;

  const Model& model_;
  backend::Reservation kept_;  // for the copy of a model with state, and for what that grows by
  ::torch::jit::Module module_;
  ::torch::jit::Function* const forward_;  // NULL for a package
  const std::shared_ptr<MemoryBudget> budget_;
  const CallScope::Subject subject_;
  Inputs inputs_;
  ::wasinn::torch::Outputs outputs_;
  std::vector<c10::IValue> stack_;
};

namespace {

// By PyTorch's words, of a build for CPUs or without a driver.
bool AsksForGpu(const std::string& message) {
  constexpr std::string_view kWords[] = {"'CUDA' backend", "without ATen_cuda library", "support for cuda devices",
                                         "no NVIDIA driver"};
  return std::ranges::any_of(kWords, [&](std::string_view words) { return message.contains(words); });
}

backend::Reservation Reserved(const Model& model, void* account) {
  backend::Reservation kept(model.host().services(), account);
  kept.Resize(model.copy_bytes());
  return kept;
}

}  // namespace

Context::Context(const Model& model, const wasinn_slot_options& options)
    : ContextBase(options),
      model_(model),
      kept_(Reserved(model, options.account)),
      module_(model.ModuleForContext()),
      forward_(model.package() == nullptr ? &module_.get_method("forward").function() : nullptr),
      budget_(std::make_shared<MemoryBudget>(options.max_bytes)),
      subject_{.log = &model.host().log(),
               .budget = budget_,
               .cancelled = &cancelled_,
               .zero_fill = model.from_guest() && model.effects().shows_new_memory},
      inputs_(model),
      outputs_(inputs_) {}

void Context::Compute() {
  Begin();
  budget_->SetLimit(max_bytes_);
  outputs_.Clear();
  budget_->ForgetRefusal();
  CallScope scope(subject_);
  const ComputeThreads threads(model_.host().config().threads);
  const LogWarnings warnings;
  const c10::InferenceMode inference;
  try {
    Run();
    if (model_.effects().stateful) ChargeState();
  } catch (...) {
    stack_.clear();
    outputs_.Clear();
    ChargeFailed();
    Fail();
  }
  computed_ = true;
}

void Context::Run() {
  stack_.clear();
  if (forward_ == nullptr) return RunPackage();
  stack_.emplace_back(module_._ivalue());
  inputs_.PushTo(&stack_);
  forward_->run(stack_);
  outputs_.Fill(stack_.at(0));
  stack_.clear();  // so that outputs have no other references
  const size_t expected = model_.signature().outputs().size();
  if (model_.signature().knows_outputs() && outputs_.size() != expected) {
    Throw(WASINN_ERROR_RUNTIME, "the model gave {} outputs where its type says {}", outputs_.size(), expected);
  }
}

void Context::RunPackage() {
  inputs_.PushTo(&stack_);
  std::vector<at::Tensor> tensors;
  for (c10::IValue& value : stack_) tensors.push_back(std::move(value).toTensor());
  stack_.clear();
  outputs_.Fill(model_.package()->Run(tensors), model_.signature().outputs());
}

// The state that the run has left in the model: all living allocations of runs, except for outputs.
void Context::ChargeState() {
  const uint64_t used = budget_->used(), outputs = std::min(used, outputs_.OwnBytes());
  try {
    kept_.Resize(model_.copy_bytes() + (used - outputs));
  } catch (const Error& error) {
    outputs_.Clear();
    ForgetState();
    Throw(error.code(), "what the model keeps from one compute to the next is too large, and is gone: {}",
          error.what());
  }
}

// A run may have changed the model before it failed.
void Context::ChargeFailed() {
  if (!model_.effects().stateful) return;
  try {
    kept_.Resize(model_.copy_bytes() + budget_->used());
  } catch (const Error&) {
    ForgetState();
  }
}

// Call it only in a catch block.
void Context::Fail() const {
  if (cancelled_) Throw(WASINN_ERROR_TIMEOUT, "the compute was cancelled");
  if (budget_->refused() != 0) {
    Throw(WASINN_ERROR_TOO_LARGE, "the compute needs {} bytes more than it could have; its limit is {} bytes",
          budget_->refused(), budget_->limit());
  }
  try {
    throw;
  } catch (const Error&) {
    throw;
  } catch (const std::bad_alloc&) {
    Throw(WASINN_ERROR_TOO_LARGE, "there is not enough memory for the compute");
  } catch (...) {
    const std::string message = MessageOfCurrentException();
    if (AsksForGpu(message)) {
      Throw(WASINN_ERROR_UNSUPPORTED_OPERATION,
            "the model asks for a GPU as it runs, in a way that is not found at its load: move it to the CPU before it "
            "is traced or scripted (model.cpu()), and let its code say x.device in place of a name");
    }
    throw Error(WASINN_ERROR_RUNTIME, message);
  }
}

}  // namespace wasinn::torch

// Called by libwasinn_backend_torch.so (backend.cc).
extern "C" WASINN_BACKEND_EXPORT const wasinn_backend* wasinn_torch_runtime() {
  using wasinn::backend::TableOf;
  // The backend reports the identity.
  static const wasinn_backend table = TableOf<wasinn::torch::Host, wasinn::torch::Model, wasinn::torch::Context>::Make(
      {.name = "torch", .version = WASINN_BACKEND_VERSION, .formats = {}, .keys = {}, .install = ""});
  return &table;
}
