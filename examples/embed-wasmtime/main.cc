// Two guests at once on one shared model: one engine, one linker and one pre-linked module; for each guest a thread, a
// store and a wasinn::Guest. Usage: embed-wasmtime digits.onnx guest.wat
#include <wasinn/wasmtime.hpp>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

namespace {

void Check(const wasinn::Status& status) {
  if (status) return;
  std::fprintf(stderr, "%s\n", status.message());
  std::exit(1);
}

void Check(wasmtime_error_t* error, wasm_trap_t* trap = nullptr) {
  if (error == nullptr && trap == nullptr) return;
  wasm_name_t message;
  error != nullptr ? wasmtime_error_message(error, &message) : wasm_trap_message(trap, &message);
  std::fprintf(stderr, "%.*s\n", static_cast<int>(message.size), message.data);
  std::exit(1);
}

// How a call finds its guest: here the guest is the store's data.
wasinn_guest* GuestOf(wasmtime_context_t* context, void*) {
  return static_cast<wasinn_guest*>(wasmtime_context_get_data(context));
}

void RunGuest(wasm_engine_t* engine, const wasmtime_instance_pre_t* program, const wasinn::Host& host, int image) {
  wasinn::Result<wasinn::Guest> guest = wasinn::Guest::Create(host);
  if (!guest) Check(guest.status());
  wasmtime_store_t* store = wasmtime_store_new(engine, guest->get(), nullptr);
  wasmtime_context_t* context = wasmtime_store_context(store);
  wasmtime_instance_t instance;
  wasm_trap_t* trap = nullptr;
  Check(wasmtime_instance_pre_instantiate(program, context, &instance, &trap), trap);
  wasmtime_extern_t classify;
  if (!wasmtime_instance_export_get(context, &instance, "classify", 8, &classify)) std::abort();
  wasmtime_val_t argument{}, digit{};
  argument.kind = WASMTIME_I32;
  argument.of.i32 = image;
  Check(wasmtime_func_call(context, &classify.of.func, &argument, 1, &digit, 1, &trap), trap);
  std::printf("guest %d sees a %d\n", image, digit.of.i32);
  guest->Close();  // before the guest's memory goes
  wasmtime_store_delete(store);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return std::fprintf(stderr, "Usage: %s digits.onnx guest.wat\n", argv[0]), 2;
  wasinn::Result<wasinn::Host> host =
      wasinn::Host::Create({}, [](const wasinn_log_record& record) { std::fprintf(stderr, "%s\n", record.message); });
  if (!host) Check(host.status());
  wasinn::ModelOptions digits;
  digits.path = argv[1];
  Check(host->AddModel("digits", digits));

  wasm_engine_t* engine = wasm_engine_new();
  wasmtime_linker_t* linker = wasmtime_linker_new(engine);
  Check(wasinn::wasmtime::Link(linker, *host, GuestOf));
  std::ifstream file(argv[2]);
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  wasm_byte_vec_t wasm;
  Check(wasmtime_wat2wasm(text.data(), text.size(), &wasm));
  wasmtime_module_t* module;
  Check(wasmtime_module_new(engine, reinterpret_cast<uint8_t*>(wasm.data), wasm.size, &module));
  wasmtime_instance_pre_t* program;
  Check(wasmtime_linker_instantiate_pre(linker, module, &program));

  std::thread first(RunGuest, engine, program, std::cref(*host), 0),
      second(RunGuest, engine, program, std::cref(*host), 1);
  first.join();
  second.join();
}  // the engine's objects go with the OS process
