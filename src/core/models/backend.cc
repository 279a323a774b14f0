#include "core/models/backend.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "base/json.h"
#include "core/c_struct.h"
#include "core/memory/quota.h"
#include "core/text.h"

namespace wasinn::core {

Result<wasinn_backend> Backend::ReadTable(const wasinn_backend& table) {
  ASSIGN_OR_RETURN(wasinn_backend read, ReadStruct(table, "its wasinn_backend"));
  const wasinn_backend& t = read;
  if (t.abi_major != WASINN_BACKEND_ABI_MAJOR) {
    return Fail(WASINN_ERROR_UNSUPPORTED_OPERATION, "it has version {}.{} of the backend ABI: expected {}.x",
                t.abi_major, t.abi_minor, WASINN_BACKEND_ABI_MAJOR);
  }
  const std::array<std::pair<const char*, bool>, 14> required = {{{"name", t.name != nullptr},
                                                                  {"formats", t.formats != nullptr},
                                                                  {"open", t.open != nullptr},
                                                                  {"close", t.close != nullptr},
                                                                  {"backend_info", t.backend_info != nullptr},
                                                                  {"load", t.load != nullptr},
                                                                  {"unload", t.unload != nullptr},
                                                                  {"info", t.info != nullptr},
                                                                  {"slot_new", t.slot_new != nullptr},
                                                                  {"slot_free", t.slot_free != nullptr},
                                                                  {"bind_input", t.bind_input != nullptr},
                                                                  {"unbind_input", t.unbind_input != nullptr},
                                                                  {"compute", t.compute != nullptr},
                                                                  {"output", t.output != nullptr}}};
  for (const auto& [name, there] : required) {
    if (!there)
      return Fail(WASINN_ERROR_UNSUPPORTED_OPERATION, "its table of {} bytes has no '{}'", table.struct_size, name);
  }
  if (t.version == nullptr) read.version = "";
  if (t.install == nullptr) read.install = "";
  return read;
}

Backend::Backend(const wasinn_backend& table, const Logger& logger, uint32_t threads)
    : table_(table),
      logger_(logger),
      services_{sizeof(wasinn_host_services), this, &Backend::Log, threads, &Backend::Reserve} {}

Backend::~Backend() {
  if (state_ != nullptr) table_.close(state_);
}

Result<std::shared_ptr<Backend>> Backend::Open(const wasinn_backend& table, const Logger& logger, uint32_t threads,
                                               const std::string& config) {
  std::shared_ptr<Backend> backend(new Backend(table, logger, threads));
  wasinn_error* error = table.open(&backend->services_, config.c_str(), &backend->state_);
  if (error != nullptr) return std::unexpected(TakeError(table, *error));
  return backend;
}

Result<std::shared_ptr<Backend>> Backend::OpenBy(const wasinn_backend& table, const Logger& logger, uint32_t threads,
                                                 const Opener& open, const Hooks& hooks) {
  std::shared_ptr<Backend> backend(new Backend(table, logger, threads));
  ASSIGN_OR_RETURN(backend->state_, open(backend->services_));
  backend->hooks_ = hooks;
  return backend;
}

Result<wasinn_backend_info> Backend::Info() const {
  const wasinn_backend_info* info = nullptr;
  wasinn_error* error = table_.backend_info(state_, &info);
  if (error != nullptr) return std::unexpected(TakeError(table_, *error));
  return ReadStruct(*info, "wasinn_backend_info", {.framework = "", .version = "", .library = "", .devices = ""});
}

Status Backend::TakeError(const wasinn_backend& table, wasinn_error& error) {
  const std::unique_ptr<wasinn_error, void (*)(wasinn_error*)> released(&error, error.release);
  return Status(FailureCode(error.code), error.message == nullptr ? "an error without a message" : error.message,
                table.name);
}

// C code calls both functions: they must not throw.
void Backend::Log(void* host, uint32_t given, const char* message) noexcept try {
  const auto* self = static_cast<const Backend*>(host);
  const auto level = static_cast<wasinn_log_level>(std::min<uint32_t>(given, WASINN_LOG_DEBUG));
  if (!self->logger_.Wants(level)) return;
  const char* name = self->table_.name;
  uint64_t left_out = 0;
  if (level < WASINN_LOG_DEBUG && !self->log_limit_.Allow(left_out)) return;
  if (left_out > 0) self->logger_.Write(level, fmt::format("{}: {} lines before this were left out", name, left_out));
  self->logger_.Write(level, fmt::format("{}: {}", name, message));
} catch (const std::exception&) {
  return;  // no memory for a message
}

uint32_t Backend::Reserve(void*, void* account, int64_t bytes) noexcept try {
  if (account == nullptr) return WASINN_OK;
  auto& quota = *static_cast<Quota*>(account);
  if (bytes >= 0) return quota.Take(static_cast<uint64_t>(bytes)).code();
  quota.GiveBack(-static_cast<uint64_t>(bytes));
  return WASINN_OK;
} catch (const std::exception&) {
  return WASINN_ERROR_TOO_LARGE;
}

Status CheckBackendKeys(const wasinn_backend& table, uint32_t where, const std::string& json) {
  const nlohmann::json object = base::ParseJson(json);
  if (!object.is_object()) {
    return Error(WASINN_ERROR_INVALID_ARGUMENT,
                 "the configuration for backend '{}' is not a JSON object, or is nested deeper than {}", table.name,
                 base::kDeepestJson);
  }
  std::vector<std::string> known;
  for (size_t i = 0; i < table.n_keys; ++i) {
    if ((table.keys[i].where & where) != 0) known.emplace_back(table.keys[i].name);
  }
  if (std::ranges::find(known, WASINN_KEY_ANY) != known.end()) return Status();
  for (const auto& [key, value] : object.items()) {
    if (std::ranges::find(known, key) == known.end()) {
      return Error(WASINN_ERROR_INVALID_ARGUMENT, "backend '{}' has no key '{}'{}", table.name, key,
                   Suggest(key, known));
    }
  }
  return Status();
}

}  // namespace wasinn::core
