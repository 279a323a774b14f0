#include "openvino/ov_library.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string_view>

#include "common/throw.h"

namespace wasinn::openvino {

using backend::Throw;

namespace {

constexpr char kOvInstall[] = "scripts/deps.sh openvino";
// Python's wheels only have the name with the version, which differs in each release.
constexpr const char* kOvNames[] = {"libopenvino_c.so", "libopenvino_c.so.2641"};
// The oldest version whose C API has all used functions, and the headers' numbers of element types.
constexpr int kOldestYear = 2026;

wasinn_code CodeOf(ov_status_e status, wasinn_code otherwise) {
  switch (status) {
    case NOT_IMPLEMENTED:
    case NOT_IMPLEMENT_C_METHOD:
      return WASINN_ERROR_UNSUPPORTED_OPERATION;
    case PARAMETER_MISMATCH:
    case OUT_OF_BOUNDS:
    case INVALID_C_PARAM:
      return WASINN_ERROR_INVALID_ARGUMENT;
    case INFER_CANCELLED:
      return WASINN_ERROR_TIMEOUT;
    default:
      return otherwise;
  }
}

// The useful part of a message: not the places in OpenVINO's sources that an exception passed.
std::string Tidy(std::string_view text) {
  std::string tidy;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    while (!line.empty() && (line.front() == ' ' || line.front() == '\t')) line.remove_prefix(1);
    while (!line.empty() && (line.back() == ' ' || line.back() == '\r')) line.remove_suffix(1);
    if (line.empty() || line.starts_with("Exception from ")) continue;
    if (!tidy.empty()) tidy += tidy.back() == ':' ? " " : "; ";
    tidy += line;
  }
  return tidy;
}

}  // namespace

OvLibrary::OvLibrary(const std::string& configured) {
  const backend::Library library(
      {.framework = "OpenVINO", .install = kOvInstall, .names = kOvNames, .configured = configured});
#define WASINN_OPENVINO_FIND(name) api_.name = library.Symbol<decltype(&::name)>(#name);
  WASINN_OPENVINO_FUNCTIONS(WASINN_OPENVINO_FIND)
#undef WASINN_OPENVINO_FIND
  path_ = library.PathOf(reinterpret_cast<const void*>(api_.ov_core_create_with_config));
  // A function of the library below the C API.
  const void* inside = library.FindSymbol("get_openvino_version");
  folder_ = std::filesystem::path(inside == nullptr ? path_ : library.PathOf(inside)).parent_path().string();
  ov_version_t version = {};
  Check(api_.ov_get_openvino_version(&version), "asking for the version");
  version_ = version.buildNumber;
  api_.ov_version_free(&version);
  int year = 0;
  std::sscanf(version_.c_str(), "%d.", &year);
  if (year < kOldestYear) {
    Throw(WASINN_ERROR_UNSUPPORTED_OPERATION, "OpenVINO {} ({}): expected {} or later; {} installs one", version_,
          path_, kOldestYear, kOvInstall);
  }
}

void OvLibrary::Check(ov_status_e status, const char* doing, wasinn_code code) const {
  if (status == OK) return;
  Throw(CodeOf(status, code), "{}: {}", doing, Message(status));
}

std::string OvLibrary::Message(ov_status_e status) const {
  std::string message;
  if (const char* text = api_.ov_get_last_err_msg(); text != nullptr) {
    message = Tidy(text);
    api_.ov_free(text);
  }
  return message.empty() ? api_.ov_get_error_info(status) : message;
}

}  // namespace wasinn::openvino
