// The host's log.
#pragma once

#include <wasinn/backend.h>

#include <string>

namespace wasinn::backend {

// Thread-safe. Lives as long as the host services.
class Log {
 public:
  explicit Log(const wasinn_host_services& services) : host_(services.host), log_(services.log) {}

  void Write(wasinn_log_level level, const std::string& message) const noexcept {
    if (log_ != nullptr) log_(host_, level, message.c_str());
  }

 private:
  void* host_;
  void (*log_)(void* host, uint32_t level, const char* message);
};

}  // namespace wasinn::backend
