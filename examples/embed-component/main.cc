// Two guests at once on one shared model, as components: one engine, one linker and one pre-linked component; for each
// guest a thread, a store and a wasinn::Guest. Usage: embed-component digits.onnx guest.wat
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

void Check(wasmtime_error_t* error) {
  if (error == nullptr) return;
  wasm_name_t message;
  wasmtime_error_message(error, &message);
  std::fprintf(stderr, "%.*s\n", static_cast<int>(message.size), message.data);
  std::exit(1);
}

// How a call finds its guest: here the guest is the store's data.
wasinn_guest* GuestOf(wasmtime_context_t* context, void*) {
  return static_cast<wasinn_guest*>(wasmtime_context_get_data(context));
}

void RunGuest(wasm_engine_t* engine, const wasinn_wasmtime_component_pre* program,
              const wasmtime_component_export_index_t* classify, const wasinn::Host& host, int image) {
  wasinn::Result<wasinn::Guest> guest = wasinn::Guest::Create(host);
  if (!guest) Check(guest.status());
  wasmtime_store_t* store = wasmtime_store_new(engine, guest->get(), nullptr);
  wasmtime_context_t* context = wasmtime_store_context(store);
  wasinn::wasmtime::SetUp(context, *guest);  // raises Wasmtime's guards to the guest's limits
  wasmtime_component_instance_t instance;
  Check(wasinn_wasmtime_component_pre_instantiate(program, context, &instance));
  wasmtime_component_func_t function;
  if (!wasmtime_component_instance_get_func(&instance, context, classify, &function)) std::abort();
  wasmtime_component_val_t argument{}, digit{};
  argument.kind = WASMTIME_COMPONENT_U32;
  argument.of.u32 = static_cast<uint32_t>(image);
  Check(wasmtime_component_func_call(&function, context, &argument, 1, &digit, 1));
  std::printf("guest %d sees a %d\n", image, digit.of.s32);
  guest->Close();  // before the guest's memory goes; frees what the guest has not dropped
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
  wasmtime_component_linker_t* linker = wasmtime_component_linker_new(engine);
  Check(wasinn::wasmtime::Link(linker, *host, GuestOf));
  std::ifstream file(argv[2], std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};  // text or binary
  wasmtime_component_t* component;
  Check(wasmtime_component_new(engine, reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size(), &component));
  wasinn_wasmtime_component_pre* program;
  Check(wasinn_wasmtime_component_pre_new(linker, component, &program));
  const wasmtime_component_export_index_t* classify =
      wasmtime_component_get_export_index(component, nullptr, "classify", 8);
  if (classify == nullptr) return std::fprintf(stderr, "the guest exports no classify\n"), 1;

  std::thread first(RunGuest, engine, program, classify, std::cref(*host), 0),
      second(RunGuest, engine, program, classify, std::cref(*host), 1);
  first.join();
  second.join();
}  // the engine's objects go with the OS process
