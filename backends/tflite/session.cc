#include "tflite/session.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "common/bases.h"
#include "common/throw.h"
#include "tflite/memory.h"
#include "tflite/model.h"

namespace wasinn::tflite {

using backend::Error;
using backend::Throw;

namespace {

constexpr uint64_t kLittle = 1 << 16;  // if runs have allocated more, a new interpreter is better

void CheckBytes(uint64_t bytes, uint64_t max_bytes) {
  if (max_bytes == 0 || bytes <= max_bytes) return;
  Throw(WASINN_ERROR_TOO_LARGE, "the compute needs {} bytes: no more than {} are allowed", bytes, max_bytes);
}

}  // namespace

Session::Session(const Signature& signature, std::unique_ptr<Interpreter> interpreter)
    : threads_(interpreter->threads()),
      interpreter_(std::move(interpreter)),
      inputs_(signature, interpreter_->library()),
      outputs_(signature, interpreter_->library()) {}

void Session::Compute(const Model& model, const Memory& memory, const std::atomic<bool>& cancelled) {
  computed_ = false;
  if (interpreter_ == nullptr) Renew(model);
  Allocate(model, memory);
  const uint64_t strings = inputs_.StringBytes();
  CheckBytes(strings, memory.max_bytes);
  ChargeStrings(model, memory, strings);
  inputs_.CopyInto(*interpreter_);
  has_run_ = true;
  running_ = interpreter_.get();
  const TfLiteStatus status = interpreter_->library().invoke(interpreter_->get());
  running_ = nullptr;  // a cancel that uses it ends before the compute does
  if (status != kTfLiteOk) {
    const std::string message = interpreter_->TakeMessages();
    if (cancelled) Throw(WASINN_ERROR_TIMEOUT, "the compute was cancelled: {}", message);
    throw Error(WASINN_ERROR_RUNTIME, message);
  }
  if (const uint64_t more = outputs_.StringBytes(*interpreter_); more > 0) {
    OrDrop(model, memory, [&] { ChargeStrings(model, memory, strings + more); });
  }
  CheckBytes(outputs_.FindCopied(*interpreter_, inputs_), memory.max_bytes);
  outputs_.MakeCopies(*interpreter_);
  computed_ = true;
}

void Session::Renew(const Model& model) {
  if (std::exchange(lost_state_, false)) {
    Throw(WASINN_ERROR_TOO_LARGE,
          "the context has lost its state: outputs that were discarded could be freed with it only, and what they hold "
          "is more than may still be held");
  }
  interpreter_ = model.NewInterpreter(threads_);
}

// Memory that it has taken is only freed with it. Done at once, since making the next one may fail.
void Session::DropInterpreter() {
  interpreter_.reset();
  inputs_.Forget();
  outputs_.Forget();
  allocated_ = has_run_ = refused_ = computed_ = false;
}

void Session::Allocate(const Model& model, const Memory& memory) {
  const bool inputs_changed = inputs_.Apply(*interpreter_);
  const bool outputs_changed = outputs_.Apply(*interpreter_);
  if (allocated_ && !inputs_changed && !outputs_changed) return;
  allocated_ = false;
  CheckBytes(memory.needed, memory.max_bytes);
  OrDrop(model, memory, [&] { Grow(model, memory); });
  allocated_ = true;
}

void Session::OrDrop(const Model& model, const Memory& memory, const std::function<void()>& grow) {
  refused_ = true;  // until everything succeeded
  try {
    grow();
  } catch (const Error& error) {
    const bool loses_state = has_run_ && model.has_state();
    DropInterpreter();
    memory.kept->Resize(std::min(memory.kept->bytes(), model.lasting_bytes()));
    if (!loses_state) throw;
    Throw(error.code(), "{}; the context has lost its state by that", error.what());
  }
  refused_ = false;
}

void Session::Grow(const Model& model, const Memory& memory) {
  if (interpreter_->library().allocate_tensors(interpreter_->get()) != kTfLiteOk) {
    Throw(WASINN_ERROR_INVALID_ARGUMENT, "the model cannot be prepared for inputs of these shapes: {}",
          interpreter_->TakeMessages());
  }
  // It has not been used yet.
  CheckBytes(std::max(PlanOf(*interpreter_, model.scan()).all(), memory.needed), memory.max_bytes);
  Charge(model, memory);
}

// An interpreter never gives memory back, even if it needs less later.
void Session::Charge(const Model& model, const Memory& memory) const {
  memory.kept->Resize(std::max({memory.kept->bytes(), model.LastingBytes(*interpreter_), memory.needed}));
}

void Session::ChargeStrings(const Model& model, const Memory& memory, uint64_t bytes) const {
  if (bytes == 0) return;
  const uint64_t all = backend::AddSat(std::max(model.LastingBytes(*interpreter_), memory.needed), bytes);
  memory.kept->Resize(std::max(memory.kept->bytes(), all));
}

uint64_t Session::HeldByOutputs() const { return interpreter_ == nullptr ? 0 : outputs_.DynamicBytes(*interpreter_); }

uint64_t Session::SetOutputsAside() {
  computed_ = false;
  return outputs_.bytes() + HeldByOutputs();
}

void Session::FreeOutputs(bool has_state) {
  computed_ = false;
  if (HeldByOutputs() == 0) return outputs_.Forget();
  lost_state_ = has_run_ && has_state;
  DropInterpreter();
}

std::optional<uint64_t> Session::Reset(const Model& model, uint64_t most) {
  computed_ = false;
  inputs_.Reset();
  outputs_.Reset();
  outputs_.Discard();
  if (interpreter_ == nullptr || refused_ || HeldByOutputs() > 0) return std::nullopt;
  if (interpreter_->library().reset_variable_tensors(interpreter_->get()) != kTfLiteOk) return std::nullopt;
  has_run_ = false;
  const uint64_t lasting = model.LastingBytes(*interpreter_), dynamic = PlanOf(*interpreter_, model.scan()).dynamic;
  if (lasting > std::min<uint64_t>(most, INT64_MAX) || dynamic > kLittle) return std::nullopt;
  return lasting + dynamic + outputs_.bytes();
}

IdleSessions::IdleSessions(size_t most, backend::SpareThreads* threads, backend::Reservation kept)
    : most_(most), threads_(threads), kept_(std::move(kept)) {}

IdleSessions::Idle IdleSessions::Remove(size_t index) {
  Idle removed = std::move(idle_[index]);
  idle_.erase(idle_.begin() + static_cast<ptrdiff_t>(index));
  kept_.Resize(kept_.bytes() - removed.bytes);
  return removed;
}

std::unique_ptr<Session> IdleSessions::Take(int threads) {
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find(idle_, threads, [](const Idle& idle) { return idle.session->threads(); });
  if (found == idle_.end()) return nullptr;
  return Remove(static_cast<size_t>(found - idle_.begin())).session;
}

void IdleSessions::Give(std::unique_ptr<Session> session, uint64_t bytes) noexcept {
  if (most_ == 0) return;
  try {
    const int threads = session->threads();
    Idle idle{.threads = std::make_unique<backend::ThreadLease>(threads_, threads, threads),
              .session = std::move(session),
              .bytes = bytes};
    if (idle.threads->count() < threads) return;
    Idle oldest;  // destroyed after the lock
    const std::lock_guard lock(mutex_);
    idle_.reserve(idle_.size() + 1);
    if (idle_.size() == most_) oldest = Remove(0);
    kept_.Resize(kept_.bytes() + bytes);
    idle_.push_back(std::move(idle));
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): there is no room for it; then it goes
  }
}

}  // namespace wasinn::tflite
