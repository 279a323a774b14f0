#include "serve/log.h"

#include <algorithm>
#include <mutex>
#include <set>

namespace wasinn::serve {
namespace {

constexpr size_t kMaxShown = 64;  // of a field's name
constexpr size_t kMaxIgnored = 256;

// Counts the lines with this one; 0: it is there already, or the log has enough.
size_t Count(const std::string& line) {
  static std::mutex mutex;
  static std::set<std::string> lines;
  const std::lock_guard lock(mutex);
  return lines.size() < kMaxIgnored && lines.insert(line).second ? lines.size() : 0;
}

}  // namespace

void LogOnce(std::string line) {
  std::ranges::replace(line, '\0', '?');  // it would end the line
  const size_t count = Count(line);
  if (count > 0) cli::Log(WASINN_LOG_INFO, line.c_str());
  if (count == kMaxIgnored) cli::Log(WASINN_LOG_INFO, "further ignored fields of requests are not logged");
}

void LogIgnored(std::string_view api, std::string_view place, std::string_view field) {
  LogOnce(fmt::format("{}: the field {}{} of requests is ignored: nothing here depends on it", api, place,
                      field.substr(0, kMaxShown)));
}

}  // namespace wasinn::serve
