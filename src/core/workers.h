// Frameworks that run apart from the host, for whom it does not trust: each guest has its own.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "core/backend.h"
#include "core/made_once.h"

namespace wasinn::core {

// Of one guest. Any thread; Clear and Abandon beside none.
class Workers {
 public:
  // Whose they are, for the log. Bytes that each may allocate beyond what its framework takes: of models, and of tensors;
  // UINT64_MAX: any.
  Workers(std::string owner, uint64_t max_model_bytes, uint64_t max_tensor_bytes)
      : owner_(std::move(owner)), max_model_bytes_(max_model_bytes), max_tensor_bytes_(max_tensor_bytes) {}

  // All of them end: nobody wants what they hold.
  void Abandon() {
    const std::lock_guard lock(mutex_);
    for (auto& [name, made] : backends_) {
      if (const auto backend = made.Peek()) (*backend)->Abandon();
    }
  }
  // Those that nobody uses end.
  void Clear() {
    const std::lock_guard lock(mutex_);
    backends_.clear();
  }

  const std::string& owner() const { return owner_; }
  uint64_t max_model_bytes() const { return max_model_bytes_; }
  uint64_t max_tensor_bytes() const { return max_tensor_bytes_; }

  // The one of this backend, made by whoever asks first.
  template <typename Make>
  Result<std::shared_ptr<Backend>> Get(const std::string& backend, const Patience& patience, Make&& make) {
    return Find(backend).Get(patience, "a worker of backend '" + backend + "'", std::forward<Make>(make));
  }

 private:
  using Made = MadeOnce<std::shared_ptr<Backend>>;
  Made& Find(const std::string& backend) {
    const std::lock_guard lock(mutex_);
    return backends_[backend];
  }

  const std::string owner_;
  const uint64_t max_model_bytes_, max_tensor_bytes_;
  std::mutex mutex_;
  std::map<std::string, Made> backends_;  // none moves
};

}  // namespace wasinn::core
