#include "torch/context.h"

#include <c10/core/InferenceMode.h>
#include <fmt/format.h>

#include <algorithm>

#include "common/error.h"
#include "torch/messages.h"

namespace wasinn::torch {

using backend::Error;

namespace {

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
      forward_(module_.get_method("forward").function()),
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
  stack_.emplace_back(module_._ivalue());
  inputs_.PushTo(&stack_);
  forward_.run(stack_);
  outputs_.Fill(stack_.at(0));
  stack_.clear();  // so that outputs are referred to by nobody else
  const size_t expected = model_.signature().outputs().size();
  if (model_.signature().knows_outputs() && outputs_.size() != expected) {
    throw Error(WASINN_ERROR_RUNTIME,
                fmt::format("the model gave {} outputs where its type says {}", outputs_.size(), expected));
  }
}

// What the run has left in the model: all that was allocated in runs and is there still, but for outputs.
void Context::ChargeState() {
  const uint64_t used = budget_->used(), outputs = std::min(used, outputs_.OwnBytes());
  try {
    kept_.Resize(model_.copy_bytes() + (used - outputs));
  } catch (const Error& error) {
    outputs_.Clear();
    ForgetState();
    throw Error(error.code(),
                fmt::format("what the model keeps from one compute to the next is too large, and is gone: "
                            "{}",
                            error.what()));
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

void Context::ForgetState() {
  static const CallScope::Subject nobody;
  const CallScope scope(nobody);
  module_ = model_.ModuleForContext();
  kept_.Resize(model_.copy_bytes());
}

// Call it in a catch block only.
void Context::Fail() const {
  if (cancelled_) throw Error(WASINN_ERROR_TIMEOUT, "the compute was cancelled");
  if (budget_->refused() != 0) {
    throw Error(WASINN_ERROR_TOO_LARGE,
                fmt::format("the compute needs {} bytes more than it could have; its limit is {} bytes",
                            budget_->refused(), budget_->limit()));
  }
  try {
    throw;
  } catch (const Error&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw Error(WASINN_ERROR_TOO_LARGE, "there is not enough memory for the compute");
  } catch (...) {
    throw Error(WASINN_ERROR_RUNTIME, MessageOfCurrentException());
  }
}

void Context::Output(uint32_t index, wasinn_tensor* view) {
  backend::CheckComputed(computed_);
  outputs_.View(index, view);
}

void Context::TakeOutput(uint32_t index, wasinn_tensor* out) {
  backend::CheckComputed(computed_);
  outputs_.Take(index, out);
}

std::span<const wasinn_io* const> Context::Outputs() {
  backend::CheckComputed(computed_);
  return outputs_.Ios();
}

void Context::DiscardOutputs() {
  computed_ = false;
  outputs_.Clear();
}

}  // namespace wasinn::torch
