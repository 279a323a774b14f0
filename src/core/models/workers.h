// The frameworks that run outside of the host, for untrusted guests: each guest has its own, or shares those of its
// tenant.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/models/backend.h"
#include "core/models/blob.h"
#include "core/models/graph.h"
#include "core/models/single_flight.h"

namespace wasinn::core {

// Graphs of the guests that may share. Thread-safe.
class SharedGraphs {
 public:
  // Two loads with the same key give the same graph.
  static std::string KeyOf(std::span<const std::shared_ptr<const Blob>> parts, const Graph::LoadOptions& options);

  struct Shared {
    std::shared_ptr<Graph> graph;
    bool made;  // by this call
  };
  using Load = std::function<Result<std::shared_ptr<Graph>>()>;
  // The graph of this key, if it is in use; else the result of `load`. Waits while another caller loads it. A failure
  // is only for the caller that loaded.
  Result<Shared> Get(const std::string& key, const WaitOptions& wait, const Load& load);

 private:
  using Made = SingleFlight<std::weak_ptr<Graph>>;
  std::shared_ptr<Made> Find(const std::string& key);
  void Forget();
  static void ForgetGone(Made& made);

  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Made>> graphs_;
  size_t look_at_ = 16;  // at this size, unused graphs are forgotten
};

// For one guest or tenant. Thread-safe, except that Abandon must run alone.
class Workers {
 public:
  // `owner` is for the log. Each worker may allocate these bytes in addition to its framework, for models and for
  // tensors; UINT64_MAX: no limit. `op_libraries`: libraries of custom operators.
  Workers(std::string owner, uint64_t max_model_bytes, uint64_t max_tensor_bytes,
          std::vector<std::string> op_libraries = {})
      : owner_(std::move(owner)),
        max_model_bytes_(max_model_bytes),
        max_tensor_bytes_(max_tensor_bytes),
        op_libraries_(std::move(op_libraries)) {}

  // Ends all workers: their objects are not needed any more.
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
  const std::vector<std::string>& op_libraries() const { return op_libraries_; }

  // The worker of this backend; the first caller makes it. A worker that may use devices is another OS process, with a
  // weaker sandbox.
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
  const std::vector<std::string> op_libraries_;
  SharedGraphs graphs_;
  std::mutex mutex_;
  std::map<Key, Made> backends_;  // elements never move
};

// The place in which a framework runs. NULL: in the host's process; else in one of these workers, with or without
// devices.
struct Place {
  Workers* workers = nullptr;
  bool has_devices = false;
};

// The workers of a host's tenants. Thread-safe.
class Tenants {
 public:
  // A tenant's workers, which keep the limits that they were created with. "": workers for one guest.
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
