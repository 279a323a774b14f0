// Two guests at once on one shared model: one runtime and one module; for each guest a thread and an instance, which
// gets a wasinn_guest of its own at its first call. Usage: embed-wamr digits.onnx guest.wasm
#include <wasinn/wamr.hpp>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

namespace {

void Check(bool good, const char* why) {
  if (good) return;
  std::fprintf(stderr, "%s\n", why);
  std::exit(1);
}

void Check(const wasinn::Status& status) { Check(status.ok(), status.message()); }

void RunGuest(wasm_module_t module, uint32_t image) {
  Check(wasm_runtime_init_thread_env(), "WAMR cannot use this thread");
  char error[128];
  wasm_module_inst_t instance = wasm_runtime_instantiate(module, 64 << 10, 0, error, sizeof error);
  Check(instance != nullptr, error);
  wasm_exec_env_t env = wasm_runtime_create_exec_env(instance, 64 << 10);
  wasm_function_inst_t classify = wasm_runtime_lookup_function(instance, "classify");
  Check(classify != nullptr, "the guest has no function classify");
  uint32_t value = image;  // the argument, then the result
  Check(wasm_runtime_call_wasm(env, classify, 1, &value), "the guest trapped");
  std::printf("guest %u sees a %d\n", image, static_cast<int>(value));
  wasm_runtime_destroy_exec_env(env);
  wasm_runtime_deinstantiate(instance);  // its wasinn_guest goes with it
  wasm_runtime_destroy_thread_env();
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

  Check(wasm_runtime_init(), "WAMR does not start");
  wasinn::Result<wasinn::Wamr> nn = wasinn::Wamr::Register(*host);  // before modules are loaded
  if (!nn) Check(nn.status());
  std::ifstream file(argv[2], std::ios::binary);
  std::string wasm{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  char error[128];
  wasm_module_t module = wasm_runtime_load(reinterpret_cast<uint8_t*>(wasm.data()), static_cast<uint32_t>(wasm.size()),
                                           error, sizeof error);
  Check(module != nullptr, error);

  std::thread first(RunGuest, module, 0), second(RunGuest, module, 1);
  first.join();
  second.join();
  wasm_runtime_unload(module);
  nn->Unregister();
  wasm_runtime_destroy();
}
