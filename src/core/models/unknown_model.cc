#include "core/models/unknown_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "core/models/model_name.h"

namespace wasinn::core {
namespace {

// Enough names to help; each is cut before it fills the message.
constexpr size_t kMostNames = 10, kMostBytesOfName = 64;

std::string Shortened(const std::string& name) {
  return name.size() <= kMostBytesOfName ? name : name.substr(0, kMostBytesOfName) + "...";
}

struct NamesToList {
  std::vector<std::string> first;  // sorted
  size_t count = 0;                // of all names
};

// The names that the guest may use. The registry may be long, and the guest may ask again and again.
NamesToList AllowedNames(const ModelRegistry& models, const Policy& policy) {
  NamesToList names;
  if (!policy.models) {
    std::tie(names.first, names.count) = models.Names(kMostNames);
    return names;
  }
  std::set<std::string> allowed;
  for (const std::string& name : *policy.models) {
    const auto split = SplitVersion(name);
    const bool is_one_of_all = split && policy.CheckName(split->first).ok();
    if (!is_one_of_all && models.Find(name)) allowed.insert(name);
  }
  names.count = allowed.size();
  names.first.assign(allowed.begin(), allowed.end());
  return names;
}

// A caller that asks for a version gets the list of versions.
void ListVersions(const ModelRegistry& models, std::string_view model, NamesToList& names) {
  const auto found = std::ranges::find(names.first, model);
  if (found == names.first.end()) return;
  std::vector<std::string> numbered;
  for (const uint32_t version : models.VersionsOf(model)) numbered.push_back(fmt::format("{}:{}", model, version));
  names.count += numbered.size() - 1;
  names.first.insert(names.first.erase(found), numbered.begin(), numbered.end());
}

}  // namespace

Status UnknownModel(const ModelRegistry& models, const Policy& policy, std::string_view name) {
  NamesToList allowed = AllowedNames(models, policy);
  if (const size_t colon = name.rfind(':'); colon != std::string_view::npos) {
    ListVersions(models, name.substr(0, colon), allowed);
  }
  const size_t n = allowed.count;
  std::string names;
  for (const std::string& one : allowed.first | std::views::take(kMostNames)) {
    names += fmt::format("{}'{}'", names.empty() ? "" : ", ", Shortened(one));
  }
  if (n == 0)
    return Error(WASINN_ERROR_NOT_FOUND, "no model is registered as '{}', and none under any other name", name);
  const std::string more = n > kMostNames ? fmt::format(" and {} more", n - kMostNames) : "";
  return Error(WASINN_ERROR_NOT_FOUND, "no model is registered as '{}': there {} {}{}", name, n == 1 ? "is" : "are",
               names, more);
}

}  // namespace wasinn::core
