#include "serve/ignored_fields.h"

#include <fmt/format.h>

#include <mutex>
#include <set>
#include <string>

#include "cli/log.h"

namespace wasinn::serve {
namespace {

constexpr size_t kMostShown = 64;  // of a field's name
constexpr size_t kMostTold = 256;

// How many have been told with it; 0: it need not be told.
size_t Count(const std::string& line) {
  static std::mutex mutex;
  static std::set<std::string> told;
  const std::lock_guard lock(mutex);
  return told.size() < kMostTold && told.insert(line).second ? told.size() : 0;
}

}  // namespace

void TellIgnored(std::string_view api, std::string_view place, std::string_view field) {
  const std::string line = fmt::format("{}: the field {}{} of requests is ignored: nothing changes with it", api, place,
                                       field.substr(0, kMostShown));
  const size_t count = Count(line);
  if (count > 0) cli::Log(WASINN_LOG_INFO, line.c_str());
  if (count == kMostTold) cli::Log(WASINN_LOG_INFO, "other fields of requests that are ignored are not told any more");
}

}  // namespace wasinn::serve
