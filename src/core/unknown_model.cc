#include "core/unknown_model.h"

#include <fmt/format.h>

#include <string>

namespace wasinn::core {
namespace {

// So many that they help, each cut where it would fill the message.
constexpr size_t kMostNames = 10, kMostBytesOfName = 64;

std::string Shortened(const std::string& name) {
  return name.size() <= kMostBytesOfName ? name : name.substr(0, kMostBytesOfName) + "...";
}

}  // namespace

Status UnknownModel(const ModelRegistry& models, const Policy& policy, std::string_view name) {
  std::string names, last;
  size_t n = 0;
  for (const auto& model : models.All()) {
    const ModelSource& source = model->source();
    if (source.name == last) continue;  // another version
    const std::string numbered = fmt::format("{}:{}", source.name, source.version);
    // Who asks for a version is told of the versions.
    const bool version = name.starts_with(fmt::format("{}:", source.name));
    const bool plain = !version && policy.CheckName(source.name).ok();
    if (!plain && !policy.CheckName(numbered).ok()) continue;
    if (plain) last = source.name;
    if (++n > kMostNames) continue;
    names += fmt::format("{}'{}'", names.empty() ? "" : ", ", Shortened(plain ? source.name : numbered));
  }
  if (n == 0) return Error(WASINN_NOT_FOUND, "no model is registered as '{}', and none by any other name", name);
  const std::string more = n > kMostNames ? fmt::format(" and {} more", n - kMostNames) : "";
  return Error(WASINN_NOT_FOUND, "no model is registered as '{}': there {} {}{}", name, n == 1 ? "is" : "are", names,
               more);
}

}  // namespace wasinn::core
