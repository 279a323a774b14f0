/* A VM of WasmEdge with the plugin, whose models are named by WasmEdge_PluginInitWASINN: two VMs, one after another and
 * at once. Usage: wasmedge_vm PLUGINS guest.wasm PRELOAD... */
#include <stdio.h>
#include <wasmedge/wasmedge.h>

static int Classify(WasmEdge_VMContext* vm, const char* guest, int image) {
  const WasmEdge_Value argument = WasmEdge_ValueGenI32(image);
  WasmEdge_Value digit = WasmEdge_ValueGenI32(-1);
  const WasmEdge_Result result =
      WasmEdge_VMRunWasmFromFile(vm, guest, WasmEdge_StringWrap("classify", 8), &argument, 1, &digit, 1);
  if (!WasmEdge_ResultOK(result)) fprintf(stderr, "WasmEdge: %s\n", WasmEdge_ResultGetMessage(result));
  return WasmEdge_ValueGetI32(digit);
}

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  WasmEdge_PluginLoadFromPath(argv[1]);
  WasmEdge_PluginInitWASINN((const char* const*)(argv + 3), (uint32_t)(argc - 3));
  WasmEdge_VMContext *first = WasmEdge_VMCreate(NULL, NULL), *second = WasmEdge_VMCreate(NULL, NULL);
  printf("%d %d\n", Classify(first, argv[2], 0), Classify(second, argv[2], 1));
  WasmEdge_VMDelete(first);
  printf("%d\n", Classify(second, argv[2], 0));
  WasmEdge_VMDelete(second);
  WasmEdge_VMContext* third = WasmEdge_VMCreate(NULL, NULL);
  printf("%d\n", Classify(third, argv[2], 1));
  WasmEdge_VMDelete(third);
  return 0;
}
