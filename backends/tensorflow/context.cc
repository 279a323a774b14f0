// One inference in flight, and the backend's table of functions.
#include <wasinn/backend.h>

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/call_gate.h"
#include "common/bases.h"
#include "common/dtype.h"
#include "common/reservation.h"
#include "common/table.h"
#include "common/throw.h"
#include "tensorflow/model.h"
#include "tensorflow/tensors.h"

namespace wasinn::tensorflow {

using backend::Error;
using backend::Throw;

class Context : public backend::ContextBase {
 public:
  Context(const Model& model, const wasinn_slot_options& options);

  // Computes these outputs; none: all.
  void Compute(std::span<const uint32_t> wanted);
  void Output(uint32_t index, wasinn_tensor* view);
  void Cancel() {
    ContextBase::Cancel();
    gate_.Cancel([this] { session_->Cancel(std::exchange(stopped_, true)); });
  }
  void DiscardOutputs() {
    computed_ = false;
    outputs_.Discard();
  }
  void BindInput(uint32_t index, const wasinn_tensor& tensor) { inputs_.Bind(index, tensor); }
  void UnbindInput(uint32_t index) { inputs_.Unbind(index); }
  void TakeOutput(uint32_t index, wasinn_tensor* out) {
    backend::CheckComputed(computed_);
    outputs_.Give(index, out);
  }

 private:
  // The session for an attempt of a compute; it has been entered.
  std::shared_ptr<Session> Enter(int attempt);
  std::shared_ptr<Session> EnterShared();
  std::shared_ptr<Session> EnterOwn();
  void DropOwn() {
    own_.reset();
    kept_.Resize(0);
  }
  // Whether the session also runs the tensors of this compute: asks `serve`, unless it ran them last.
  template <typename Serve>
  bool Serves(const Session& session, const Serve& serve) {
    if (session.id() == served_session_ && set_ == served_set_) return true;
    if (!serve()) return false;
    served_set_ = set_;
    served_session_ = session.id();
    return true;
  }
  void Want(std::span<const uint32_t> wanted) {
    wanted_.assign(wanted_.size(), wanted.empty());
    for (const uint32_t index : wanted) {
      if (index >= wanted_.size()) backend::ThrowNoPort("output", index, wanted_.size());
      wanted_[index] = true;
    }
  }
  void ChooseSet();
  void RunToTheEnd();
  void Use(const Session& session);
  void ChooseTensors();
  // False: another context's cancel ended it.
  bool Run(SessionRun* run);
  void TakeResults();
  // Throws if there is no room to keep it with the others.
  void CheckSize(size_t index, const TF_Tensor* tensor) const {
    const uint64_t bytes = backend::AddSat(outputs_.bytes(), outputs_.BytesOf(index, tensor));
    if (max_bytes_ != 0 && bytes > max_bytes_) {
      Throw(WASINN_ERROR_TOO_LARGE,
            "the model's outputs take {} bytes at least: no more than {} are allowed in a compute", bytes, max_bytes_);
    }
  }
  // Frees those that were not taken.
  void FreeResults() {
    for (TF_Tensor*& result : results_) {
      if (result != nullptr) model_.host().library()->TF_DeleteTensor(std::exchange(result, nullptr));
    }
  }

  const Model& model_;
  const TfPtr<TF_Status> status_;
  Inputs inputs_;
  Outputs outputs_;
  std::vector<bool> wanted_;
  // The session of the current run. A shared one is not kept longer, because it may be retired at any time.
  Session* session_ = nullptr;
  bool stopped_ = false;          // the current run, by a cancel
  backend::Reservation kept_;     // for the own session
  std::shared_ptr<Session> own_;  // if the model has state, or the shared one does not run the tensors
  TensorSet set_;                 // of this compute
  TensorSet served_set_;          // of the last one
  uint64_t served_session_ = 0;   // the session that ran it
  uint64_t known_session_ = 0;    // the session of the tensors below
  // In its graph, by index in the signature; no operation: not servable.
  std::vector<TF_Output> input_tensors_, output_tensors_;
  // For one run.
  std::vector<TF_Output> feeds_, fetches_;
  std::vector<TF_Tensor*> values_, results_;
  base::CallGate gate_;  // for session_, which may be freed before the compute ends
};

Context::Context(const Model& model, const wasinn_slot_options& options)
    : ContextBase(options),
      model_(model),
      status_(model.host().library().NewStatus()),
      inputs_(model, options.account),
      outputs_(model),
      wanted_(model.signature().outputs().size(), true),
      kept_(model.host().services(), options.account) {
  const size_t n_inputs = model.signature().inputs().size(), n_outputs = wanted_.size();
  feeds_.reserve(n_inputs);
  values_.reserve(n_inputs);
  fetches_.reserve(n_outputs);
  results_.reserve(n_outputs);
}

// If the model writes to variables, tables or iterators, they belong to the context.
std::shared_ptr<Session> Context::Enter(int attempt) {
  // That often another context's cancel may end this run before it gets a session that no other context can close.
  constexpr int kMaxShared = 2;
  if (attempt > 0) {
    model_.host().log().Write(WASINN_LOG_DEBUG,
                              "tensorflow: a compute is repeated: another one was cancelled in its session");
  }
  if (!model_.keeps_state() && attempt < kMaxShared) {
    if (std::shared_ptr<Session> shared = EnterShared()) return shared;
  }
  return EnterOwn();
}

// NULL: it does not run these tensors, and must not keep memory for one context. It may have to be loaded again.
std::shared_ptr<Session> Context::EnterShared() {
  const auto session = model_.sessions().Use([](Session& shared) { return shared.Enter(); }, cancelled_);
  const bool cancelled = cancelled_ || session == nullptr;
  bool serves = false;
  try {
    serves = !cancelled && Serves(*session, [&] { return session->ServeShared(set_); });
  } catch (...) {
    session->Leave(false);
    throw;
  }
  if (serves) {
    DropOwn();
    return session;
  }
  if (session != nullptr) session->Leave(false);
  if (cancelled) Throw(WASINN_ERROR_TIMEOUT, "the compute was cancelled: the model was being loaded again");
  return nullptr;
}

// Its guest pays for the session, and as much again for each set of tensors that it has run.
std::shared_ptr<Session> Context::EnterOwn() {
  // Without state a new session is as good, and has no other set.
  const auto serves = [this](size_t most) { return Serves(*own_, [&] { return own_->Serve(set_, most); }); };
  if (own_ != nullptr && (own_->retired() || (!model_.keeps_state() && !serves(0)))) DropOwn();
  if (own_ == nullptr) {
    kept_.Resize(model_.session_bytes());
    own_ = model_.keeps_state() ? model_.sessions().Take() : model_.sessions().New();
  }
  if (!serves(0)) {
    kept_.Resize(backend::MulSat(model_.session_bytes(), own_->sets() + 2));
    serves(SIZE_MAX);
  }
  own_->Enter();
  return own_;
}

void Context::Use(const Session& session) {
  if (session.id() == known_session_) return;
  known_session_ = 0;
  const auto find = [&](const std::deque<Port>& ports, std::vector<TF_Output>* tensors) {
    tensors->clear();
    for (const Port& port : ports) {
      tensors->push_back(port.servable() ? session.Find(port.tensor) : TF_Output{nullptr, 0});
    }
  };
  find(model_.signature().inputs(), &input_tensors_);
  find(model_.signature().outputs(), &output_tensors_);
  known_session_ = session.id();
}

void Context::Compute(std::span<const uint32_t> wanted) {
  Begin();
  outputs_.Release();
  Want(wanted);
  try {
    inputs_.MakeCopies();
    RunToTheEnd();
    TakeResults();
  } catch (...) {
    inputs_.DropCopies();
    FreeResults();
    outputs_.Discard();  // no guest is charged for outputs that do not exist
    if (own_ == nullptr) kept_.Resize(0);
    throw;
  }
  inputs_.DropCopies();
  computed_ = true;
}

void Context::RunToTheEnd() {
  ChooseSet();
  for (int attempt = 0;; ++attempt) {
    const std::shared_ptr<Session> session = Enter(attempt);
    SessionRun run(session.get());
    Use(*session);
    session_ = session.get();
    ChooseTensors();
    if (Run(&run)) return;
  }
}

void Context::ChooseSet() {
  const auto& outputs = model_.signature().outputs();
  const size_t n_inputs = model_.signature().inputs().size();
  set_.resize(n_inputs + outputs.size());
  for (size_t i = 0; i < n_inputs; ++i) {
    set_[i] = inputs_.Get(i) != nullptr;
    const Port& port = model_.signature().inputs()[i];
    if (!set_[i] && port.required()) backend::ThrowUnset(port);
  }
  for (size_t i = 0; i < outputs.size(); ++i) set_[n_inputs + i] = wanted_[i] || !outputs[i].servable();
}

void Context::ChooseTensors() {
  feeds_.clear();
  values_.clear();
  fetches_.clear();
  for (size_t i = 0; i < input_tensors_.size(); ++i) {
    if (inputs_.Get(i) == nullptr) continue;
    feeds_.push_back(input_tensors_[i]);
    values_.push_back(inputs_.Get(i));
  }
  const auto& ports = model_.signature().outputs();
  for (size_t i = 0; i < ports.size(); ++i) {
    const bool is_fed = ports[i].same_input >= 0 && inputs_.Get(static_cast<size_t>(ports[i].same_input)) != nullptr;
    if (wanted_[i] && ports[i].servable() && !is_fed) fetches_.push_back(output_tensors_[i]);
  }
  results_.assign(fetches_.size(), nullptr);
}

bool Context::Run(SessionRun* run) {
  if (fetches_.empty()) return true;
  const TfLibrary& library = model_.host().library();
  stopped_ = false;
  gate_.Enter();
  library->TF_SessionRun(session_->get(), nullptr, feeds_.data(), values_.data(), static_cast<int>(feeds_.size()),
                         fetches_.data(), results_.data(), static_cast<int>(fetches_.size()), nullptr, 0, nullptr,
                         status_.get());
  gate_.Leave();
  if (stopped_) run->SetCancelled();
  const TF_Code code = library->TF_GetCode(status_.get());
  if (code == TF_OK) return true;
  FreeResults();
  const std::string message = library.Message(status_.get());
  if (stopped_) Throw(WASINN_ERROR_TIMEOUT, "the compute was cancelled: {}", message);
  // Operations that are stopped report different errors.
  if (session_->closed()) return false;
  // Inputs have been checked, so a node's error is not about the caller's argument.
  const wasinn_code known = CodeOf(code);
  throw Error(known == WASINN_ERROR_INVALID_ARGUMENT ? WASINN_ERROR_RUNTIME : known, message);
}

void Context::TakeResults() {
  const auto& ports = model_.signature().outputs();
  size_t next = 0;
  for (size_t i = 0; i < ports.size(); ++i) {
    if (!wanted_[i] || !ports[i].servable()) {
      outputs_.Discard(i);
      continue;
    }
    const TF_Tensor* fed = ports[i].same_input < 0 ? nullptr : inputs_.Get(static_cast<size_t>(ports[i].same_input));
    if (fed != nullptr) {
      CheckSize(i, fed);
      outputs_.Copy(i, fed);
    } else {
      auto result = model_.host().library().Own(std::exchange(results_[next], nullptr));
      ++next;
      CheckSize(i, result.get());
      outputs_.Take(i, std::move(result));
    }
  }
}

void Context::Output(uint32_t index, wasinn_tensor* view) {
  backend::CheckComputed(computed_);
  if (index < wanted_.size() && !wanted_[index]) {
    static constexpr int64_t kNoDims[] = {0};
    *view = {
        .struct_size = sizeof(wasinn_tensor), .dtype = model_.signature().outputs()[index].io.dtype, .dims = kNoDims};
    return;
  }
  outputs_.View(index, view);
}

}  // namespace wasinn::tensorflow

const wasinn_backend* wasinn_backend_query(uint16_t host_abi_major, uint16_t /*host_abi_minor*/) {
  using namespace wasinn::tensorflow;
  return wasinn::backend::Query<Host, Model, Context>(host_abi_major, "tensorflow",
                                                      {.name = "tensorflow",
                                                       .version = WASINN_BACKEND_VERSION,
                                                       .formats = {},
                                                       .keys = Keys(),
                                                       .install = "scripts/deps.sh tensorflow"});
}
