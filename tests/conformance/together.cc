// One OS process with all frameworks: an embedder whose guests run on threads of their own.
//
//   together CONFIG GUEST FOLDER MODELS FIRST TASK...
//
// A task is NAME:TYPE:OUTPUT:MODEL for the guest "infer": it runs FOLDER/TYPE through MODEL into FOLDER/NAME. The first
// FIRST tasks run one after the other, which opens their frameworks in this order; then all tasks run at once.
#include <wasi.h>
#include <wasinn/wasmtime.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <latch>
#include <string>
#include <thread>
#include <vector>
#include <wasinn/wasinn.hpp>

namespace {

void Check(const wasinn::Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "%s\n", status.message());
  std::exit(1);
}

void Check(wasmtime_error_t* error, wasm_trap_t* trap = nullptr) {
  int code = 0;
  if (error == nullptr && trap == nullptr) return;
  if (error != nullptr && wasmtime_error_exit_status(error, &code) && code == 0) return wasmtime_error_delete(error);
  wasm_name_t message;
  error != nullptr ? wasmtime_error_message(error, &message) : wasm_trap_message(trap, &message);
  std::fprintf(stderr, "%.*s\n", static_cast<int>(message.size), message.data);
  std::exit(1);
}

wasinn_guest* GuestOf(wasmtime_context_t* context, void*) {
  return static_cast<wasinn_guest*>(wasmtime_context_get_data(context));
}

struct Program {
  wasm_engine_t* engine = wasm_engine_new();
  wasmtime_linker_t* linker = wasmtime_linker_new(engine);
  wasmtime_module_t* module = nullptr;
  const wasinn::Host* host = nullptr;
  std::string folder, models;

  void Compile(const char* path) {
    std::ifstream file(path, std::ios::binary);
    const std::string wasm{std::istreambuf_iterator<char>(file), {}};
    Check(wasmtime_module_new(engine, reinterpret_cast<const uint8_t*>(wasm.data()), wasm.size(), &module));
  }
};

// Up to the next ':', which goes too.
std::string Take(std::string* text) {
  const size_t colon = text->find(':');
  std::string word = text->substr(0, colon);
  text->erase(0, colon + 1);
  return word;
}

void SetArguments(const Program& program, std::string task, wasi_config_t* wasi) {
  const std::string name = Take(&task), type = Take(&task), output = Take(&task);
  const std::string inputs = "/files/" + type, outputs = "/files/" + name;
  const char* argv[] = {"infer",         type.c_str(), "1,1,8,8",      inputs.c_str(),
                        outputs.c_str(), "image",      output.c_str(), task.c_str()};
  wasi_config_set_argv(wasi, std::size(argv), argv);
  wasi_config_inherit_stdout(wasi);
  wasi_config_preopen_dir(wasi, program.folder.c_str(), "/files", true);
  wasi_config_preopen_dir(wasi, program.models.c_str(), "/models", false);
}

void RunGuest(const Program& program, const std::string& task) {
  wasinn::Result<wasinn::Guest> guest = wasinn::Guest::Create(*program.host);
  if (!guest) Check(guest.status());
  wasmtime_store_t* store = wasmtime_store_new(program.engine, guest->get(), nullptr);
  wasmtime_context_t* context = wasmtime_store_context(store);
  wasi_config_t* wasi = wasi_config_new();
  SetArguments(program, task, wasi);
  Check(wasmtime_context_set_wasi(context, wasi));
  wasmtime_instance_t instance;
  wasm_trap_t* trap = nullptr;
  wasmtime_error_t* error = wasmtime_linker_instantiate(program.linker, context, program.module, &instance, &trap);
  Check(error, trap);
  wasmtime_extern_t start;
  if (!wasmtime_instance_export_get(context, &instance, "_start", 6, &start)) std::exit(3);
  error = wasmtime_func_call(context, &start.of.func, nullptr, 0, nullptr, 0, &trap);
  Check(error, trap);
  guest->Close();
  wasmtime_store_delete(store);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 7) return 2;
  wasinn::Config config;
  Check(config.LoadFile(argv[1]));
  const auto log = [](wasinn::LogLevel, const char* line) { std::fprintf(stderr, "%s\n", line); };
  wasinn::Result<wasinn::Host> host = wasinn::Host::Create(config, log);
  if (!host) Check(host.status());
  Program program;
  program.host = &*host;
  program.folder = argv[3];
  program.models = argv[4];
  Check(wasmtime_linker_define_wasi(program.linker));
  Check(wasinn::Status(wasinn_wasmtime_link(program.linker, host->get(), GuestOf, nullptr)));
  program.Compile(argv[2]);

  const std::vector<std::string> tasks(argv + 6, argv + argc);
  for (int i = 0; i < std::atoi(argv[5]); ++i) RunGuest(program, tasks[static_cast<size_t>(i)]);
  std::latch start(static_cast<std::ptrdiff_t>(tasks.size()));
  std::vector<std::thread> threads;
  for (const std::string& task : tasks) {
    threads.emplace_back([&] {
      start.arrive_and_wait();
      RunGuest(program, task);
    });
  }
  for (std::thread& thread : threads) thread.join();
  wasmtime_module_delete(program.module);
  wasmtime_linker_delete(program.linker);
  wasm_engine_delete(program.engine);
}
