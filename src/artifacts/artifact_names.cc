#include "artifacts/artifact_names.h"

#include <algorithm>

namespace wasinn::artifacts {
namespace {

constexpr size_t kMaxName = 255, kMaxPath = 1024, kDeepest = 16;

bool IsSafeName(std::string_view name) {
  const auto is_odd = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f || c == '\\'; };
  return !name.empty() && name != "." && name != ".." && name.size() <= kMaxName && std::ranges::none_of(name, is_odd);
}

}  // namespace

bool IsSafePath(std::string_view path) {
  if (path.size() > kMaxPath) return false;
  for (size_t depth = 0; depth < kDeepest; ++depth) {
    const size_t slash = path.find('/');
    if (!IsSafeName(path.substr(0, slash))) return false;
    if (slash == path.npos) return true;
    path.remove_prefix(slash + 1);
  }
  return false;
}

}  // namespace wasinn::artifacts
