#include <fmt/format.h>

#include "core/host/policy.h"

#include <algorithm>
#include <ranges>
#include <set>
#include <tuple>

#include "core/models/model_registry.h"
#include "core/words.h"

namespace wasinn::core {

Status Policy::CheckLoad(wasinn_target target) const {
  if (load != WASINN_LOAD_ISOLATED && load != WASINN_LOAD_IN_PROCESS) {
    return Error(WASINN_ERROR_SECURITY, "the host's policy does not let guests load their own models (policy.load)");
  }
  return CheckTarget(target);
}

Status Policy::CheckTarget(wasinn_target target) const {
  if (target <= WASINN_TARGET_AUTO && (targets >> target & 1) != 0) return Status();
  return Error(WASINN_ERROR_SECURITY, "the host's policy does not allow target {}", TargetName(target));
}

Status Policy::CheckEncoding(std::string_view encoding) const {
  if (!encodings || std::ranges::find(*encodings, encoding) != encodings->end()) return Status();
  return Error(WASINN_ERROR_SECURITY, "the host's policy does not allow encoding {}", encoding);
}

Status Policy::CheckName(std::string_view name) const {
  if (!models) return Status();
  const auto has = [&](std::string_view model) { return std::ranges::find(*models, model) != models->end(); };
  if (has(name)) return Status();
  if (const auto split = SplitVersion(name); split && has(split->first)) return Status();
  return Error(WASINN_ERROR_SECURITY, "the host's policy (policy.models) does not let this guest use model '{}'", name);
}

wasinn_limits DefaultLimits() {
  return {.struct_size = sizeof(wasinn_limits),
          .max_graphs = 64,
          .max_contexts = 256,
          .max_builders = 16,
          .max_name_bytes = 1024,
          .max_log_messages = 100,
          .max_model_bytes = uint64_t{1} << 30,
          .max_tensor_bytes = uint64_t{1} << 30,
          .load_timeout_ms = 60'000,
          .compute_timeout_ms = 30'000,
          .max_tensors = 16'384,
          .max_errors = 1'024,
          .run_timeout_ms = 0,
          .max_memory_bytes = UINT64_MAX};
}

namespace {

// Enough names to help; each is cut before it fills the message.
constexpr size_t kMaxNames = 10, kMaxBytesOfName = 64;

std::string Shortened(const std::string& name) {
  return name.size() <= kMaxBytesOfName ? name : name.substr(0, kMaxBytesOfName) + "...";
}

struct NamesToList {
  std::vector<std::string> first;  // sorted
  size_t count = 0;                // of all names
};

// The names that the guest may use. The registry may be long, and the guest may ask again and again.
NamesToList AllowedNames(const ModelRegistry& models, const Policy& policy) {
  NamesToList names;
  if (!policy.models) {
    std::tie(names.first, names.count) = models.Names(kMaxNames);
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
  for (const std::string& one : allowed.first | std::views::take(kMaxNames)) {
    names += fmt::format("{}'{}'", names.empty() ? "" : ", ", Shortened(one));
  }
  if (n == 0)
    return Error(WASINN_ERROR_NOT_FOUND, "no model is registered as '{}', and none under any other name", name);
  const std::string more = n > kMaxNames ? fmt::format(" and {} more", n - kMaxNames) : "";
  return Error(WASINN_ERROR_NOT_FOUND, "no model is registered as '{}': there {} {}{}", name, n == 1 ? "is" : "are",
               names, more);
}

}  // namespace wasinn::core
