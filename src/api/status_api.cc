#include "api/objects.h"
#include "core/words.h"

namespace wasinn::api {

wasinn_status* ToC(const core::Status& status) {
  if (status.ok()) return nullptr;
  return new wasinn_status{status.code(), std::string(status.message()), std::string(status.backend())};
}

namespace {

template <typename T>
wasinn_status* ParseWord(const char* word, T* out, core::Result<T> (*parse)(std::string_view)) {
  return Guard([&]() -> core::Status {
    core::Result<T> value = parse(word);
    if (!value) return std::move(value.error());
    *out = *value;
    return {};
  });
}

}  // namespace
}  // namespace wasinn::api

namespace api = wasinn::api;
namespace core = wasinn::core;

const char* wasinn_version(void) { return WASINN_VERSION; }

wasinn_code wasinn_status_code(const wasinn_status* status) { return status == nullptr ? WASINN_OK : status->code; }
const char* wasinn_status_message(const wasinn_status* status) {
  return status == nullptr ? "" : status->message.c_str();
}
const char* wasinn_status_backend(const wasinn_status* status) {
  return status == nullptr ? "" : status->backend.c_str();
}
void wasinn_status_free(wasinn_status* status) { delete status; }
wasinn_status* wasinn_status_new(wasinn_code code, const char* message) {
  return api::Guard([&] { return core::Status(code, message); });
}

const char* wasinn_code_name(wasinn_code code) { return core::CodeName(code); }
const char* wasinn_dtype_name(wasinn_dtype dtype) { return core::DtypeName(dtype); }
const char* wasinn_target_name(wasinn_target target) { return core::TargetName(target); }

wasinn_status* wasinn_target_parse(const char* word, wasinn_target* out) {
  return api::ParseWord(word, out, core::ParseTarget);
}
