#include "openvino/compiled.h"

#include <chrono>

#include "common/throw.h"

namespace wasinn::openvino {

using backend::Throw;

// How often a waiting caller checks whether it must still wait.
constexpr std::chrono::milliseconds kPatience(5);

Compiled::Compiled(const OvLibrary& library, ov_core_t* core, OvPtr<ov_model_t> model)
    : library_(library),
      core_(core),
      model_(std::move(model)),
      has_open_shapes_(library.api().ov_model_is_dynamic(model_.get())),
      compiled_(nullptr, library.api().ov_compiled_model_free) {}

void Compiled::CompileFor(const std::string& device, backend::Config::Entries properties) {
  device_ = device;
  properties_ = std::move(properties);
  compiled_ = Compile();
  ++generation_;
}

OvPtr<ov_compiled_model_t> Compiled::Compile() const {
  std::vector<ov_property_t> properties;
  properties.reserve(properties_.size());
  for (const auto& [key, value] : properties_) properties.push_back({key.c_str(), value.c_str()});
  ov_compiled_model_t* compiled = nullptr;
  library_.Check(library_.api().ov_core_compile_model_props(core_, model_.get(), device_.c_str(), properties.size(),
                                                            properties.data(), &compiled),
                 fmt::format("compiling the model for {}", device_).c_str());
  return {compiled, library_.api().ov_compiled_model_free};
}

void Compiled::CompileAnew(std::unique_lock<std::mutex>& lock) {
  lock.unlock();
  OvPtr<ov_compiled_model_t> compiled(nullptr, library_.api().ov_compiled_model_free);
  try {
    compiled = Compile();
  } catch (...) {
    lock.lock();
    busy_ = false;
    free_.notify_all();
    throw;
  }
  lock.lock();
  compiled_.swap(compiled);
  ++generation_;
  spoilt_ = false;
  for (Request* request : requests_) {
    request->request_.reset();
    request->generation_ = 0;
  }
  lock.unlock();
  compiled.reset();
  lock.lock();
}

Compiled::Request::Request(Compiled* compiled)
    : compiled_(compiled), request_(nullptr, compiled->library_.api().ov_infer_request_free) {
  const std::lock_guard lock(compiled_->mutex_);
  compiled_->requests_.insert(this);
}

Compiled::Request::~Request() {
  const std::lock_guard lock(compiled_->mutex_);
  compiled_->requests_.erase(this);
}

void Compiled::Request::Renew() {
  Drop();
  const OvLibrary& library = compiled_->library_;
  // Under no lock, since it may take its time. No other thread compiles again during this turn, or if shapes are fixed.
  ov_infer_request_t* request = nullptr;
  library.Check(library.api().ov_compiled_model_create_infer_request(compiled_->compiled_.get(), &request),
                "making an infer request");
  const std::lock_guard lock(compiled_->mutex_);
  request_.reset(request);
  generation_ = compiled_->generation_;
}

void Compiled::Request::Drop() {
  OvPtr<ov_infer_request_t> dropped(nullptr, compiled_->library_.api().ov_infer_request_free);
  const std::lock_guard lock(compiled_->mutex_);
  request_.swap(dropped);  // freed after the lock
  generation_ = 0;
}

void Compiled::Await(std::unique_lock<std::mutex>& lock, const std::atomic<bool>& cancelled) {
  waiting_.push_back(&cancelled);
  while ((busy_ || waiting_.front() != &cancelled) && !cancelled) free_.wait_for(lock, kPatience);
  const bool has_turn = !busy_ && waiting_.front() == &cancelled;
  std::erase(waiting_, &cancelled);
  if (has_turn) return;
  free_.notify_all();  // the next one may only have waited for this
  Throw(WASINN_ERROR_TIMEOUT, "the compute was cancelled: another one of this model went on");
}

Compiled::Turn::Turn(Compiled* compiled, const std::atomic<bool>& cancelled) : compiled_(compiled) {
  if (!compiled_->has_open_shapes_) {
    generation_ = compiled_->generation_;  // constant then
    return;
  }
  std::unique_lock lock(compiled_->mutex_);
  if (compiled_->busy_ || !compiled_->waiting_.empty()) compiled_->Await(lock, cancelled);
  compiled_->busy_ = true;
  if (compiled_->spoilt_) compiled_->CompileAnew(lock);
  generation_ = compiled_->generation_;
}

Compiled::Turn::~Turn() {
  if (!compiled_->has_open_shapes_) return;
  {
    const std::lock_guard lock(compiled_->mutex_);
    compiled_->busy_ = false;
    compiled_->spoilt_ = compiled_->spoilt_ || spoilt_;
  }
  compiled_->free_.notify_all();
}

}  // namespace wasinn::openvino
