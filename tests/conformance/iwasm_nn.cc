// iwasm-nn: WAMR's embedding API as a program, with iwasm's flags, in iwasm's place: nothing that the tests fetch has one. It knows nothing of
// wasi-nn: that comes by --native-lib, as it does to iwasm.
#include <dlfcn.h>
#include <wasm_export.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace {

struct Flags {
  std::vector<std::string> dirs, map_dirs, env, native_libs;
  uint32_t stack_size = 64 << 10, heap_size = 16 << 10, max_threads = 4;
};

int Fail(const std::string& why) {
  std::fprintf(stderr, "iwasm-nn: %s\n", why.c_str());
  return 1;
}

std::vector<const char*> Pointers(const std::vector<std::string>& texts) {
  std::vector<const char*> pointers;
  pointers.reserve(texts.size());
  for (const std::string& text : texts) pointers.push_back(text.c_str());
  return pointers;
}

// iwasm's interface for a native library.
class NativeLib {
 public:
  NativeLib() = default;
  ~NativeLib() {
    if (symbols_ != nullptr) wasm_runtime_unregister_natives(module_, symbols_);
    if (started_ && Function<void (*)()>("deinit_native_lib")) Function<void (*)()>("deinit_native_lib")();
    if (handle_ != nullptr) dlclose(handle_);
  }
  NativeLib(NativeLib&& other) noexcept
      : handle_(std::exchange(other.handle_, nullptr)),
        started_(std::exchange(other.started_, false)),
        module_(other.module_),
        symbols_(std::exchange(other.symbols_, nullptr)) {}
  NativeLib& operator=(NativeLib&&) = delete;

  // "" if all is well.
  std::string Load(const std::string& path) {
    handle_ = dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
    if (handle_ == nullptr) return dlerror();
    const auto get = Function<uint32_t (*)(char**, NativeSymbol**)>("get_native_lib");
    if (get == nullptr) return path + " has no get_native_lib";
    if (const auto init = Function<int (*)()>("init_native_lib"); init != nullptr && init() != 0) {
      return path + " did not start";
    }
    started_ = true;
    NativeSymbol* symbols = nullptr;
    const uint32_t count = get(&module_, &symbols);
    if (count == 0 || !wasm_runtime_register_natives(module_, symbols, count)) return path + " cannot be registered";
    symbols_ = symbols;
    return "";
  }

 private:
  template <typename T>
  T Function(const char* name) const {
    return reinterpret_cast<T>(dlsym(handle_, name));
  }

  void* handle_ = nullptr;
  bool started_ = false;
  char* module_ = nullptr;
  NativeSymbol* symbols_ = nullptr;
};

wasm_module_inst_t Instantiate(wasm_module_t module, const Flags& flags, std::vector<char*>& argv, char* error,
                               uint32_t size) {
  const std::vector<const char*> dirs = Pointers(flags.dirs), maps = Pointers(flags.map_dirs),
                                 env = Pointers(flags.env);
  std::vector<const char*> dir_list = dirs, map_list = maps, env_list = env;
  InstantiationArgs2* args = nullptr;
  if (!wasm_runtime_instantiation_args_create(&args)) return nullptr;
  wasm_runtime_instantiation_args_set_default_stack_size(args, flags.stack_size);
  wasm_runtime_instantiation_args_set_host_managed_heap_size(args, flags.heap_size);
  wasm_runtime_instantiation_args_set_wasi_arg(args, argv.data(), static_cast<int>(argv.size()));
  wasm_runtime_instantiation_args_set_wasi_env(args, env_list.data(), static_cast<uint32_t>(env_list.size()));
  wasm_runtime_instantiation_args_set_wasi_dir(args, dir_list.data(), static_cast<uint32_t>(dir_list.size()),
                                               map_list.data(), static_cast<uint32_t>(map_list.size()));
  const wasm_module_inst_t instance = wasm_runtime_instantiate_ex2(module, args, error, size);
  wasm_runtime_instantiation_args_destroy(args);
  return instance;
}

int RunModule(wasm_module_t module, const Flags& flags, std::vector<char*>& argv) {
  char error[256] = {};
  const wasm_module_inst_t instance = Instantiate(module, flags, argv, error, sizeof error);
  if (instance == nullptr) return Fail(error);
  wasm_application_execute_main(instance, static_cast<int32_t>(argv.size()), argv.data());
  int code = static_cast<int>(wasm_runtime_get_wasi_exit_code(instance));
  if (const char* exception = wasm_runtime_get_exception(instance)) code = Fail(exception);
  wasm_runtime_deinstantiate(instance);
  return code;
}

int Run(const Flags& flags, std::vector<std::string> words) {
  std::ifstream file(words[0], std::ios::binary);
  if (!file) return Fail("cannot open " + words[0]);
  std::string wasm{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  std::vector<NativeLib> libs;
  for (const std::string& path : flags.native_libs) {
    if (const std::string why = libs.emplace_back().Load(path); !why.empty()) return Fail(why);
  }
  char error[256] = {};
  const wasm_module_t module = wasm_runtime_load(reinterpret_cast<uint8_t*>(wasm.data()),
                                                 static_cast<uint32_t>(wasm.size()), error, sizeof error);
  if (module == nullptr) return Fail(error);
  std::vector<char*> argv;
  argv.reserve(words.size());
  for (std::string& word : words) argv.push_back(word.data());
  const int code = RunModule(module, flags, argv);
  wasm_runtime_unload(module);
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app(
      "Runs a program on WAMR. Flags are iwasm's, as --flag=value; everything after the module is the program's.",
      "iwasm-nn");
  Flags flags;
  app.prefix_command();
  app.add_option("--dir", flags.dirs, "A folder that the program may use")->type_name("DIR");
  app.add_option("--map-dir", flags.map_dirs, "The same under another name")->type_name("GUEST::HOST");
  app.add_option("--env", flags.env, "An environment variable of the program")->type_name("NAME=VALUE");
  app.add_option("--native-lib", flags.native_libs, "A library with functions that the program imports")
      ->type_name("LIB");
  app.add_option("--stack-size", flags.stack_size, "Bytes of the interpreter's stack; 65536")->type_name("N");
  app.add_option("--heap-size", flags.heap_size, "Bytes of WAMR's heap in the program's memory; 16384")->type_name("N");
  app.add_option("--max-threads", flags.max_threads, "Threads of the program besides the first; 4")->type_name("N");
  for (CLI::Option* option : app.get_options()) {
    if (option->get_name() != "--help") option->allow_extra_args(false);
  }
  CLI11_PARSE(app, argc, argv);
  const std::vector<std::string> words = app.remaining();
  if (words.empty() || words[0].starts_with('-')) return std::fputs(app.help().c_str(), stderr), 2;
  RuntimeInitArgs init = {};
  init.mem_alloc_type = Alloc_With_System_Allocator;
  init.max_thread_num = flags.max_threads;
  if (!wasm_runtime_full_init(&init)) return Fail("WAMR does not start");
  const int code = Run(flags, words);
  wasm_runtime_destroy();
  return code;
}
