#include "core/log.h"

#include <fmt/format.h>

#include <string>

namespace wasinn::core {

void Logger::Write(wasinn_log_level level, std::string_view message) const {
  if (!Wants(level)) return;
  std::string line;
  line.reserve(message.size());
  for (char c : message) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) {
      line += fmt::format("\\x{:02x}", byte);
    } else {
      line += c;
    }
  }
  function_(user_, level, line.c_str());
}

}  // namespace wasinn::core
