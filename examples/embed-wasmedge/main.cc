// Two guests at once on one shared model: for each a thread, a store and a wasinn::Guest of its own.
// Usage: embed-wasmedge digits.onnx guest.wasm
#include <wasinn/wasmedge.hpp>

#include <cstdio>
#include <cstdlib>
#include <thread>

namespace {

void Check(const wasinn::Status& status) {
  if (status) return;
  std::fprintf(stderr, "%s\n", status.message());
  std::exit(1);
}

void Check(WasmEdge_Result result) {
  if (WasmEdge_ResultOK(result)) return;
  std::fprintf(stderr, "WasmEdge: %s\n", WasmEdge_ResultGetMessage(result));
  std::exit(1);
}

void RunGuest(const wasinn::Host* host, const WasmEdge_ASTModuleContext* module, int image) {
  wasinn::Result<wasinn::Guest> guest = wasinn::Guest::Create(*host);
  if (!guest) Check(guest.status());
  WasmEdge_ExecutorContext* executor = WasmEdge_ExecutorCreate(nullptr, nullptr);
  WasmEdge_StoreContext* store = WasmEdge_StoreCreate();
  wasinn::Result<wasinn::WasmEdgeModules> nn = wasinn::WasmEdgeModules::Register(executor, store, *guest);
  if (!nn) Check(nn.status());

  WasmEdge_ModuleInstanceContext* instance = nullptr;
  Check(WasmEdge_ExecutorInstantiate(executor, &instance, store, module));
  WasmEdge_FunctionInstanceContext* classify =
      WasmEdge_ModuleInstanceFindFunction(instance, WasmEdge_StringWrap("classify", 8));
  const WasmEdge_Value argument = WasmEdge_ValueGenI32(image);
  WasmEdge_Value result;
  Check(WasmEdge_ExecutorInvoke(executor, classify, &argument, 1, &result, 1));
  std::printf("guest %d sees a %d\n", image, WasmEdge_ValueGetI32(result));

  guest->Close();  // before the guest's memory goes
  WasmEdge_ModuleInstanceDelete(instance);
  WasmEdge_StoreDelete(store);
  nn->Unregister();
  WasmEdge_ExecutorDelete(executor);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return std::fprintf(stderr, "Usage: %s digits.onnx guest.wasm\n", argv[0]), 2;
  wasinn::Result<wasinn::Host> host =
      wasinn::Host::Create({}, [](const wasinn_log_record& record) { std::fprintf(stderr, "%s\n", record.message); });
  if (!host) Check(host.status());
  wasinn::ModelOptions digits;
  digits.path = argv[1];
  Check(host->AddModel("digits", digits));

  WasmEdge_LoaderContext* loader = WasmEdge_LoaderCreate(nullptr);
  WasmEdge_ASTModuleContext* module = nullptr;
  Check(WasmEdge_LoaderParseFromFile(loader, &module, argv[2]));
  WasmEdge_ValidatorContext* validator = WasmEdge_ValidatorCreate(nullptr);
  Check(WasmEdge_ValidatorValidate(validator, module));

  std::thread first(RunGuest, &*host, module, 0), second(RunGuest, &*host, module, 1);
  first.join();
  second.join();
  WasmEdge_ValidatorDelete(validator);
  WasmEdge_ASTModuleDelete(module);
  WasmEdge_LoaderDelete(loader);
}
