// Frameworks that run apart from the host, for whom it does not trust: each guest has its own, or those of a tenant
// together.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "core/models/backend.h"
#include "core/models/shared_graphs.h"
#include "core/models/single_flight.h"

namespace wasinn::core {

// Of one guest or tenant. Any thread; Abandon beside none.
class Workers {
 public:
  // Whose they are, for the log. Bytes that each may allocate beyond what its framework takes: of models, and of tensors;
  // UINT64_MAX: any.
  Workers(std::string owner, uint64_t max_model_bytes, uint64_t max_tensor_bytes)
      : owner_(std::move(owner)), max_model_bytes_(max_model_bytes), max_tensor_bytes_(max_tensor_bytes) {}

  // All of them end: nobody wants what they hold.
  void Abandon() {
    const std::lock_guard lock(mutex_);
    for (auto& [key, made] : backends_) {
      if (const auto backend = made.Peek()) (*backend)->Abandon();
    }
  }

  SharedGraphs& graphs() { return graphs_; }
  const std::string& owner() const { return owner_; }
  uint64_t max_model_bytes() const { return max_model_bytes_; }
  uint64_t max_tensor_bytes() const { return max_tensor_bytes_; }

  // The one of this backend, made by whoever asks first. One that may use devices is another OS process: the sandbox of
  // it is weaker.
  template <typename Make>
  Result<std::shared_ptr<Backend>> Get(const std::string& backend, bool has_devices, const WaitOptions& wait,
                                       Make&& make) {
    return Find({backend, has_devices}).Get(wait, "a worker of backend '" + backend + "'", std::forward<Make>(make));
  }

 private:
  using Made = SingleFlight<std::shared_ptr<Backend>>;
  using Key = std::pair<std::string, bool>;
  Made& Find(const Key& key) {
    const std::lock_guard lock(mutex_);
    return backends_[key];
  }

  const std::string owner_;
  const uint64_t max_model_bytes_, max_tensor_bytes_;
  SharedGraphs graphs_;
  std::mutex mutex_;
  std::map<Key, Made> backends_;  // none moves
};

// Where a framework runs: NULL: in the host's process; else in one of these, that may use devices or not.
struct Place {
  Workers* workers = nullptr;
  bool has_devices = false;
};

// Of a host. Any thread.
class Tenants {
 public:
  // Those of a tenant that is there already have the limits that they were made with. "" is the guest alone.
  std::shared_ptr<Workers> Join(const std::string& tenant, const std::string& guest, uint64_t max_model_bytes,
                                uint64_t max_tensor_bytes) {
    const auto make = [&](std::string owner) {
      return std::make_shared<Workers>(std::move(owner), max_model_bytes, max_tensor_bytes);
    };
    if (tenant.empty()) return make(guest.empty() ? "a guest" : fmt::format("guest '{}'", guest));
    const std::lock_guard lock(mutex_);
    if (auto joined = tenants_[tenant].lock()) return joined;
    std::erase_if(tenants_, [](const auto& one) { return one.second.expired(); });
    auto made = make(fmt::format("tenant '{}'", tenant));
    tenants_[tenant] = made;
    return made;
  }

 private:
  std::mutex mutex_;
  std::map<std::string, std::weak_ptr<Workers>> tenants_;
};

}  // namespace wasinn::core
