// The modules that are not in the standard: see plugin.cc, which explains them.
#include <wasmedge/wasmedge.h>

extern "C" {

const WasmEdge_PluginDescriptor* wasinn_wasmedge_other_modules();

WASMEDGE_CAPI_PLUGIN_EXPORT const WasmEdge_PluginDescriptor* WasmEdge_Plugin_GetDescriptor() {
  return wasinn_wasmedge_other_modules();
}

}  // extern "C"
