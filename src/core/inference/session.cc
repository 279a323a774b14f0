#include "core/inference/session.h"

#include "core/inference/ios.h"

namespace wasinn::core {

Status Session::CheckSteps() const {
  return Status(WASINN_ERROR_UNSUPPORTED_OPERATION, "models of this backend do not generate step by step",
                graph_->backend_name());
}

std::shared_ptr<const void> Session::names_owner() const {
  if (dynamic_ != nullptr) return dynamic_;
  return graph_;
}

Status Session::SetDynamic(std::span<const wasinn_io* const> ios) {
  auto outputs = std::make_shared<const DynamicOutputs>(ios);
  RETURN_IF_ERROR(dynamic_bytes_.Resize(outputs->bytes()));
  dynamic_ = std::move(outputs);
  return Status();
}

Status ComposedSession::Run(const InferenceRequest& request) {
  BeginRun();
  results_.clear();
  Status status = RunNow(request);
  request.meter->End(Stage::kCompute);
  if (status.ok()) {
    SetComputed();
  } else if (status.backend().empty()) {
    status = Status(status.code(), std::string(status.message()), graph_->backend_name());
  }
  return status;
}

Status ComposedSession::View(uint32_t index, const wasinn_tensor*& view) {
  if (index >= results_.size() || results_[index] == nullptr) return NotThere(index);
  view_ = ViewOf(results_[index]->desc(), results_[index]->bytes());
  view = &view_;
  return Status();
}

Result<TensorPtr> ComposedSession::Take(uint32_t index) {
  if (index >= results_.size() || results_[index] == nullptr) return std::unexpected(NotThere(index));
  return std::exchange(results_[index], nullptr);
}

TensorPtr Borrowed(const Input& input) {
  if (input.tensor != nullptr) return input.tensor;
  const auto tensor = SharedTensor::New();
  tensor->Adopt(nullptr, input.desc, ViewOf(input.desc, input.bytes), Reservation());
  return tensor;
}

}  // namespace wasinn::core
