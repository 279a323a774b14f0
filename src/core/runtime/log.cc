#include "core/runtime/log.h"

#include <string>

#include "core/shown.h"
#include "core/status.h"

namespace wasinn::core {
namespace {

// A message, and what goes before it: who, where.
constexpr size_t kMostLineBytes = kMostMessageBytes + 512;

}  // namespace

void Logger::Write(wasinn_log_level level, std::string_view given) const {
  if (!Wants(level)) return;
  const std::string text = Cut(std::string(given), kMostLineBytes);
  function_(user_, level, Shown(text).c_str());
}

}  // namespace wasinn::core
