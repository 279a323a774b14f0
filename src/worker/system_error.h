// An error of the system: the attempt, and the system's answer.
#pragma once

#include <cerrno>
#include <expected>
#include <string>
#include <system_error>

namespace wasinn::worker {

// `number`: from errno.
inline std::unexpected<std::string> SystemError(const std::string& tried, int number = errno) {
  return std::unexpected(tried + ": " + std::generic_category().message(number));
}

}  // namespace wasinn::worker
