// wasi-nn as a plugin of WasmEdge, instead of WasmEdge's own. From a plugin with that one's name, "wasi_nn", a VM only
// takes the standard's module; so the others are in a plugin of another name, in a library of their own.
#include <dlfcn.h>
#include <wasinn/engine.h>
#include <wasinn/wasmedge.h>

#include <string_view>
#include <vector>
#include <wasinn/wasinn.hpp>

#include "plugins/wasmedge/guest.h"
#include "plugins/wasmedge/preload.h"
#include "settings/plugin_host.h"

namespace wasinn::wasmedge_plugin {
namespace {

WasmEdge_ModuleInstanceContext* MakeStandard(const WasmEdge_ModuleDescriptor*) { return MakeModule(kStandard); }
WasmEdge_ModuleInstanceContext* MakeOther(const WasmEdge_ModuleDescriptor* module) { return MakeModule(module->Name); }

std::vector<WasmEdge_ModuleDescriptor> OtherModules() {
  size_t count = 0;
  const wasinn_function* const* functions = wasinn_functions(&count);
  std::vector<WasmEdge_ModuleDescriptor> modules;
  for (size_t i = 0; i < count; ++i) {
    const std::string_view name = functions[i]->module;
    bool known = name == kStandard;
    for (const WasmEdge_ModuleDescriptor& module : modules) known = known || name == module.Name;
    if (!known) modules.push_back({functions[i]->module, "", MakeOther});
  }
  return modules;
}

WasmEdge_PluginDescriptor Describe(const char* name, const char* description,
                                   std::vector<WasmEdge_ModuleDescriptor>& modules,
                                   std::vector<WasmEdge_ProgramOption>& options) {
  return {name,
          description,
          WasmEdge_Plugin_CurrentAPIVersion,
          {0, 1, 0, 0},
          static_cast<uint32_t>(modules.size()),
          static_cast<uint32_t>(options.size()),
          modules.data(),
          options.data()};
}

// A program may hide its WasmEdge from libraries that it loads; it would crash at the first call.
bool ShowsWasmEdge() {
  if (dlsym(RTLD_DEFAULT, "WasmEdge_ModuleInstanceCreateWithData") != nullptr) return true;
  settings::Log(WASINN_LOG_ERROR, "this program does not show WasmEdge's functions to its plugins");
  return false;
}

}  // namespace
}  // namespace wasinn::wasmedge_plugin

using wasinn::wasmedge_plugin::Describe;
using wasinn::wasmedge_plugin::MakeStandard;
using wasinn::wasmedge_plugin::OtherModules;
using wasinn::wasmedge_plugin::PreloadOption;
using wasinn::wasmedge_plugin::ShowsWasmEdge;

extern "C" {

// WasmEdge keeps the returned structs, and only writes to the option's value.
WASMEDGE_CAPI_PLUGIN_EXPORT const WasmEdge_PluginDescriptor* WasmEdge_Plugin_GetDescriptor() {
  static std::vector<WasmEdge_ModuleDescriptor> modules = {{"wasi_nn", "", MakeStandard}};
  static std::vector<WasmEdge_ProgramOption> options = {PreloadOption()};
  static const WasmEdge_PluginDescriptor descriptor = Describe("wasi_nn", "wasi-nn by wasinn", modules, options);
  return ShowsWasmEdge() ? &descriptor : nullptr;
}

WASMEDGE_CAPI_PLUGIN_EXPORT const WasmEdge_PluginDescriptor* wasinn_wasmedge_other_modules() {
  static std::vector<WasmEdge_ModuleDescriptor> modules = OtherModules();
  static std::vector<WasmEdge_ProgramOption> options;
  static const WasmEdge_PluginDescriptor descriptor =
      Describe("wasinn", "wasinn's extensions and older forms of wasi-nn", modules, options);
  return ShowsWasmEdge() ? &descriptor : nullptr;
}

}  // extern "C"
