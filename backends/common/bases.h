// Bases for the hosts, models and contexts of all frameworks.
#pragma once

#include <wasinn/backend.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "common/log.h"
#include "common/target.h"
#include "common/throw.h"

namespace wasinn::backend {

// Immutable except for a flag; outlives its models.
class HostBase {
 public:
  HostBase(const HostBase&) = delete;
  HostBase& operator=(const HostBase&) = delete;

  const wasinn_host_services& services() const { return services_; }
  const Log& log() const { return log_; }
  const FallbackWarning& fallback() const { return fallback_; }
  const wasinn_backend_info* info() const { return &info_; }

 protected:
  explicit HostBase(const wasinn_host_services& services) : services_(services), log_(services), fallback_(log_) {}
  ~HostBase() = default;
  // Call it once the framework is open; as in wasinn_backend_info.
  void Describe(const char* framework, std::string version, std::string library, std::string devices) {
    version_ = std::move(version);
    library_ = std::move(library);
    devices_ = std::move(devices);
    info_ = {sizeof(wasinn_backend_info), framework, version_.c_str(), library_.c_str(), devices_.c_str()};
  }

 private:
  const wasinn_host_services services_;
  const Log log_;
  const FallbackWarning fallback_;
  std::string version_, library_, devices_;
  wasinn_backend_info info_ = {};
};

// A host that reads its configuration, and then opens the framework's library.
template <typename Config, typename Library>
class HostOf : public HostBase {
 public:
  const Config& config() const { return config_; }
  const Library& library() const { return library_; }

 protected:
  HostOf(const wasinn_host_services& services, const char* config)
      : HostBase(services), config_(Config::Parse(config, services.threads)), library_(config_.library) {}
  ~HostOf() = default;
  void Describe(const char* framework, std::string devices) {
    HostBase::Describe(framework, library_.version(), library_.path(), std::move(devices));
  }

  const Config config_;
  const Library library_;
};

// A model with one signature, known after the load. Contexts of any thread share it.
template <typename Host, typename Signature>
class ModelBase {
 public:
  ModelBase(const ModelBase&) = delete;
  ModelBase& operator=(const ModelBase&) = delete;

  const Host& host() const { return host_; }
  const Signature& signature() const { return *signature_; }
  const wasinn_info* info() const { return signature_->info(); }
  const char* Describe() const { return description_.c_str(); }

 protected:
  explicit ModelBase(const Host& host) : host_(host) {}
  ~ModelBase() = default;

  const Host& host_;
  std::unique_ptr<Signature> signature_;
  std::string description_;
};

// Throws if no compute has succeeded, so that there is no output.
inline void CheckComputed(bool computed) {
  if (!computed) Throw(WASINN_ERROR_INVALID_ARGUMENT, "there is no output before a compute has succeeded");
}

// One thread at a time, except for Cancel.
class ContextBase {
 public:
  ContextBase(const ContextBase&) = delete;
  ContextBase& operator=(const ContextBase&) = delete;

  // Sets the limit of the next compute; 0: the slot's.
  void SetMaxBytes(uint64_t bytes) noexcept { max_bytes_ = bytes != 0 ? bytes : slot_max_bytes_; }
  void Cancel() { cancelled_ = true; }

 protected:
  explicit ContextBase(const wasinn_slot_options& options) : slot_max_bytes_(options.max_bytes) {}
  ~ContextBase() = default;
  // Begins a compute; the core cancels only between its beginning and its end.
  void Begin() { computed_ = cancelled_ = false; }

  const uint64_t slot_max_bytes_;         // 0: no limit
  uint64_t max_bytes_ = slot_max_bytes_;  // of this compute
  bool computed_ = false;
  std::atomic<bool> cancelled_ = false;  // the current compute
};

}  // namespace wasinn::backend
