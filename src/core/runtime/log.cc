#include "core/runtime/log.h"

#include <string>

#include "core/escape.h"
#include "core/status.h"

namespace wasinn::core {
namespace {

// A message, with its prefix: guest, function.
constexpr size_t kMaxLineBytes = kMaxMessageBytes + 512;

}  // namespace

void Logger::Write(const wasinn_log_record& record, std::string_view message) const {
  if (!Wants(record.level)) return;
  const std::string line = Escape(Cut(std::string(message), kMaxLineBytes));
  wasinn_log_record full = record;
  full.struct_size = sizeof full;
  const std::string name = Escape(full.guest_name == nullptr ? "" : full.guest_name);
  full.guest_name = name.c_str();
  full.message = line.c_str();
  function_(user_, &full);
}

}  // namespace wasinn::core
