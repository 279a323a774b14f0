#include "serve/models/load_log.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "cli/log.h"
#include "settings/text.h"

namespace wasinn::serve {

void LoadLog::Tell(const std::string& name, const std::string& why) {
  // The host's message begins with the model's name, too.
  const std::string prefix = fmt::format("model '{}': ", name);
  std::string_view reason = why;
  if (reason.starts_with(prefix)) reason.remove_prefix(prefix.size());
  const std::string line = fmt::format("model '{}' cannot be loaded: {}", name, reason);
  {
    const std::lock_guard lock(mutex_);
    std::set<std::string>& reasons = told_[name];
    if (reasons.size() == kMostReasons || !reasons.insert(line).second) return;
  }
  cli::Log(WASINN_LOG_WARNING, settings::PrintableName(line).c_str());
}

void LoadLog::Forget(const std::string& name) {
  const std::lock_guard lock(mutex_);
  told_.erase(name);
}

// The client has only sent a name. Errors in files, addresses, or keys for other servers are for the operator to fix.
// For the client the model is unavailable: 503 over HTTP, and UNAVAILABLE over gRPC, which has no code for 502.
Failure OfLoad(Failure why) {
  switch (why.code) {
    case WASINN_ERROR_SECURITY:
    case WASINN_ERROR_INVALID_ARGUMENT:
    case WASINN_ERROR_INVALID_ENCODING:
    case WASINN_ERROR_UNSUPPORTED_OPERATION:
      why.code = WASINN_ERROR_UNAVAILABLE;
      break;
    default:
      break;
  }
  return why;
}

}  // namespace wasinn::serve
