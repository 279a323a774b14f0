// The modules beside the standard's: see plugin.cc, which has all of it.
#include <wasmedge/wasmedge.h>

extern "C" {

const WasmEdge_PluginDescriptor* wasinn_wasmedge_other_modules();

WASMEDGE_CAPI_PLUGIN_EXPORT const WasmEdge_PluginDescriptor* WasmEdge_Plugin_GetDescriptor() {
  return wasinn_wasmedge_other_modules();
}

}  // extern "C"
