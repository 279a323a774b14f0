#include "worker/framework.h"

#include <dlfcn.h>

#include <utility>

namespace wasinn::worker {

core::Status FrameworkOf::Load(const isolation::Setting& setting) {
  setting_ = setting;
  logger_ = log_.Logger(static_cast<wasinn_log_level>(setting.log_level));
  void* library = ::dlopen(setting.library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return core::Error(WASINN_ERROR_UNSUPPORTED_OPERATION, "a worker cannot open {}: {}", setting.library, ::dlerror());
  }
  auto query = reinterpret_cast<decltype(&wasinn_backend_query)>(::dlsym(library, "wasinn_backend_query"));
  const wasinn_backend* table = query == nullptr ? nullptr : query(WASINN_BACKEND_ABI_MAJOR, WASINN_BACKEND_ABI_MINOR);
  if (table == nullptr) return core::Error(WASINN_ERROR_UNSUPPORTED_OPERATION, "{} is not a backend", setting.library);
  core::Result<wasinn_backend> read = core::Backend::ReadTable(*table);
  if (!read) return std::move(read.error());
  table_ = std::make_unique<const wasinn_backend>(*read);
  return {};
}

core::Status FrameworkOf::Open() {
  if (opened()) return {};
  auto opened = core::Backend::Open(*table_, logger_, setting_.threads, setting_.config);
  if (!opened) return std::move(opened.error());
  backend_ = std::move(*opened);
  for (const std::string& file : setting_.op_libraries) {
    if (core::Status status = OpenCode(file); !status.ok()) return status;
  }
  return {};
}

core::Status FrameworkOf::OpenCode(const std::string& file) const {
  if (table_->open_code != nullptr) return backend_->Take(table_->open_code(backend_->state(), file.c_str()));
  if (::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL) != nullptr) return {};
  return core::Error(WASINN_ERROR_INVALID_ARGUMENT, "op_libraries: {}", ::dlerror());
}

core::Result<isolation::Framework> FrameworkOf::Describe() const {
  core::Result<wasinn_backend_info> info = backend_->Info();
  if (!info) return std::unexpected(std::move(info.error()));
  return isolation::Framework{
      .name = info->framework, .version = info->version, .library = info->library, .devices = info->devices};
}

}  // namespace wasinn::worker
