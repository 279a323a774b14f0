#include "api/objects.h"
#include "core/words.h"

#include <new>

namespace wasinn::api {
namespace {

// Made while there is memory, and never freed.
wasinn_status* const out_of_memory = new wasinn_status{WASINN_ERROR_RUNTIME, "the host is out of memory", ""};

}  // namespace

wasinn_status* ToC(const core::Status& status) noexcept try {
  if (status.ok()) return nullptr;
  return new wasinn_status{status.code(), std::string(status.message()), std::string(status.backend())};
} catch (const std::bad_alloc&) {
  return out_of_memory;
}

wasinn_status* OutOfMemory() noexcept { return out_of_memory; }

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
void wasinn_status_free(wasinn_status* status) {
  if (status != api::out_of_memory) delete status;
}
wasinn_status* wasinn_status_new(wasinn_code code, const char* message) {
  return api::Guard([&] { return core::Status(core::FailureCode(code), message); });
}

const char* wasinn_code_name(wasinn_code code) { return core::CodeName(code); }
const char* wasinn_dtype_name(wasinn_dtype dtype) { return core::DtypeName(dtype); }
const char* wasinn_target_name(wasinn_target target) { return core::TargetName(target); }

wasinn_status* wasinn_target_parse(const char* word, wasinn_target* out) {
  return api::Guard([&]() -> core::Status {
    ASSIGN_OR_RETURN(*out, core::ParseTarget(word));
    return {};
  });
}
