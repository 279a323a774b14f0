#include "plugins/wasmedge/guest.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>
#include <wasinn/wasinn.hpp>

#include "plugins/wasmedge/preload.h"
#include "settings/model_flags.h"
#include "settings/plugin_host.h"

namespace wasinn::wasmedge_plugin {
namespace {

struct GuestModules {
  GuestModules() = default;
  GuestModules(std::shared_ptr<Host> its_host, Guest its_guest)
      : host(std::move(its_host)), guest(std::move(its_guest)) {}

  std::shared_ptr<Host> host;        // outlives the guest
  std::optional<Guest> guest;        // no value: wasi-nn is not available
  std::vector<std::string> modules;  // those that were made
};

// The most recent guest of this thread.
std::weak_ptr<GuestModules>& Latest() {
  thread_local std::weak_ptr<GuestModules> latest;
  return latest;
}

Status AddPreloads(Host& host) {
  const auto preloads = Preloads();
  if (!preloads) return Status(wasinn_status_new(WASINN_ERROR_INVALID_ARGUMENT, preloads.error().c_str()));
  for (const std::string& text : *preloads) {
    const auto model = settings::ParseWasmEdgeFlag(text);
    if (!model)
      return Status(wasinn_status_new(WASINN_ERROR_INVALID_ARGUMENT, ("--nn-preload: " + model.error()).c_str()));
    if (Status status = settings::AddModel(host, *model); !status.ok()) return status;
  }
  return Status();
}

Result<Host> NewHost() {
  Result<Host> host = settings::MakeHost("wasmedge");
  if (!host) return host;
  if (Status status = AddPreloads(*host); !status.ok()) return status;
  return host;
}

// One host for all current guests. It ends with the last of them: if it ended with this library, frameworks could end
// before it.
std::shared_ptr<Host> SharedHost() {
  static std::mutex mutex;
  static std::weak_ptr<Host> shared;
  const std::lock_guard lock(mutex);
  if (std::shared_ptr<Host> host = shared.lock()) return host;
  Result<Host> made = NewHost();
  if (!made) {
    settings::Log(WASINN_LOG_ERROR, made.status().message());
    return nullptr;
  }
  auto host = std::make_shared<Host>(std::move(*made));
  shared = host;
  return host;
}

std::shared_ptr<GuestModules> NewGuestModules() {
  std::shared_ptr<Host> host = SharedHost();
  if (host == nullptr) return std::make_shared<GuestModules>();
  Result<Guest> guest = Guest::Create(*host);
  if (!guest) {
    settings::Log(WASINN_LOG_ERROR, guest.status().message());
    return std::make_shared<GuestModules>();
  }
  return std::make_shared<GuestModules>(std::move(host), std::move(*guest));
}

// A guest has each module once: a second request, or one for the first module of a VM, is for another guest.
std::shared_ptr<GuestModules> ModulesFor(const std::string& module) {
  std::shared_ptr<GuestModules> owner = Latest().lock();
  if (owner != nullptr && module != kStandard && std::ranges::find(owner->modules, module) == owner->modules.end()) {
    return owner;
  }
  owner = NewGuestModules();
  Latest() = owner;
  return owner;
}

void Forget(void* kept) { delete static_cast<std::shared_ptr<GuestModules>*>(kept); }

// Keeps the guest, too: its next module then also gets no functions, and the log gets no second line.
WasmEdge_ModuleInstanceContext* EmptyModule(const std::string& name, std::shared_ptr<GuestModules>* kept) {
  return WasmEdge_ModuleInstanceCreateWithData(WasmEdge_StringWrap(name.data(), static_cast<uint32_t>(name.size())),
                                               kept, Forget);
}

WasmEdge_ModuleInstanceContext* Make(const std::string& name) {
  const std::shared_ptr<GuestModules> owner = ModulesFor(name);
  owner->modules.push_back(name);
  auto kept = std::make_unique<std::shared_ptr<GuestModules>>(owner);
  const std::optional<Guest>& guest = owner->guest;
  if (!guest) return EmptyModule(name, kept.release());
  WasmEdge_ModuleInstanceContext* module = nullptr;
  const Status status(wasinn_wasmedge_module_new(name.c_str(), guest->get(), Forget, kept.get(), &module));
  if (!status.ok()) {
    settings::Log(WASINN_LOG_ERROR, status.message());
    return EmptyModule(name, kept.release());
  }
  (void)kept.release();
  return module;
}

}  // namespace

WasmEdge_ModuleInstanceContext* MakeModule(const char* name) noexcept {
  try {
    return Make(name);
  } catch (const std::exception&) {  // no memory, not even for a message
    return WasmEdge_ModuleInstanceCreate(WasmEdge_StringWrap(name, static_cast<uint32_t>(std::strlen(name))));
  }
}

}  // namespace wasinn::wasmedge_plugin
