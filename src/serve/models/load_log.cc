#include "serve/models/load_log.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "cli/log.h"
#include "settings/text.h"

namespace wasinn::serve {

void LoadLog::Tell(const std::string& name, const std::string& why) {
  // The host begins with the model's name, too.
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

// The client has only said a name. That a file or an address is wrong, or that the server behind it wants another key, is for the operator
// to mend. To the client it is a model that is not available now: 503 by HTTP, and UNAVAILABLE by gRPC, which has no word for 502.
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
