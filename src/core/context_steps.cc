// The part of a context that generates: outputs that come piece by piece.
#include "core/context_internal.h"

namespace wasinn::core {

Status Context::CheckGenerates() const {
  if (table().step != nullptr && table().piece != nullptr && table().finish != nullptr) return Status();
  return Status(WASINN_UNSUPPORTED_OPERATION, "models of this backend do not generate step by step", table().name);
}

Status Context::Step(const GuestMemory* memory) {
  if (Status status = CheckGenerates(); !status.ok()) return status;
  has_piece_ = false;
  if (!generating_) {
    if (Status status = CheckInputsSet(); !status.ok()) return status;
    if (Status status = CopyLent(memory); !status.ok()) return status;
    computed_ = false;
  }
  taken_.clear();
  own_outputs_.clear();
  views_known_ = false;
  Watched::Run run(run_);
  Status status;
  if (!run_.cancelled()) {
    const InBackend in_backend(in_backend_);
    status = graph_->backend().Take(table().step(context_));
  }
  const bool overdue = run.End();
  if (!LeavesOutputs(status) || run_.cancelled()) {
    EndGeneration();
    computed_ = false;
    DiscardOutputs();
    return Failed(std::move(status), overdue);
  }
  generating_ = generated_ = true;
  has_piece_ = status.ok();
  if (Status charged = CountOutputs(); !charged.ok()) return charged;
  return status;
}

Status Context::GetPiece(uint32_t index, std::span<uint8_t> buffer, uint64_t& size) {
  if (Status status = CheckGenerates(); !status.ok()) return status;
  if (index >= outputs().size()) return NoSuchIndex("output", index, outputs().size());
  if (!has_piece_) {
    return Error(WASINN_INVALID_ARGUMENT, "there is no piece of an output before a step that made one");
  }
  wasinn_tensor view{.struct_size = sizeof(wasinn_tensor)};
  if (Status status = graph_->backend().Take(table().piece(context_, index, &view)); !status.ok()) return status;
  return CopyOut(*outputs()[index], view, buffer, size, counts_.out);
}

Status Context::Start(std::span<const Given> inputs) {
  CountOne(counts_.computes);
  if (Status status = CheckGenerates(); !status.ok()) return status;
  EndGeneration();
  UnsetInputs();
  for (const Given& given : inputs) {
    if (Status status = Bind(given.index, given.tensor); !status.ok()) return status;
  }
  return CheckInputsSet();
}

Status Context::Finish() {
  if (Status status = CheckGenerates(); !status.ok()) return status;
  EndGeneration();
  return Status();
}

// The backend's own end comes with the next compute, step or input as well; this lets go of what it holds for it.
void Context::LetGoOfGeneration() {
  generating_ = has_piece_ = false;
  if (wasinn_error* error = table().finish(context_)) error->release(error);
}

}  // namespace wasinn::core
