// The WAMR engine of the wasinn command: the fast interpreter, WASI preview 1, and code that WAMR's compiler made.
#include <fmt/format.h>
#include <wasinn/engine.h>
#include <wasinn/wamr.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "engines/engine.h"
#include "engines/guest_run.h"
#include "engines/memories.h"
#include "engines/not_served.h"
#include "engines/one_line.h"
#include "engines/trusted_file.h"
#include "engines/wamr/aot.h"
#include "engines/wamr/clusters.h"
#include "engines/wamr/ends.h"
#include "engines/wamr/invoke.h"
#include "engines/wamr/refusal.h"
#include "engines/wasm_file.h"
#include "engines/wasm_sections.h"

namespace wasinn::wamr {
namespace {

using engines::EngineOptions;
using engines::Exit;
using engines::OneLine;
using engines::Result;
using engines::RunOptions;

constexpr char kStart[] = "_start";
constexpr uint32_t kOperandStack = 1u << 20;  // of a guest's thread: frames of the interpreter
constexpr uint32_t kPage = 1u << 16, kMaxPages = 1u << 16;
constexpr uint64_t kMaxTableElements = 10'000'000;  // Wasmtime's limit for each table
using ErrorText = std::array<char, 256>;

// WAMR needs a signal stack on each thread that runs guests; the thread that made the runtime has one.
class ThreadEnvironment {
 public:
  ThreadEnvironment() : ours_(!wasm_runtime_thread_env_inited() && wasm_runtime_init_thread_env()) {}
  ~ThreadEnvironment() {
    if (ours_) wasm_runtime_destroy_thread_env();
  }
  ThreadEnvironment(const ThreadEnvironment&) = delete;
  ThreadEnvironment& operator=(const ThreadEnvironment&) = delete;

 private:
  const bool ours_;
};

// A guest's own data travels with its instances, including those of its threads.
wasinn_guest* GuestOf(wasm_module_inst_t instance, void*) {
  return static_cast<wasinn_guest*>(wasm_runtime_get_custom_data(instance));
}

// The process's runtime with wasi-nn, which programs keep alive.
class Runtime {
 public:
  Runtime() = default;
  ~Runtime() {
    wasinn_wamr_unregister(nn_);
    if (initialized_) wasm_runtime_destroy();
  }
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  Result<void> Start() {
    RuntimeInitArgs args = {};
    args.mem_alloc_type = Alloc_With_System_Allocator;
    initialized_ = wasm_runtime_full_init(&args);
    if (!initialized_) return std::unexpected("WAMR does not start");
    wasm_runtime_set_log_level(WASM_LOG_LEVEL_FATAL);  // errors also come back as results
    wasinn_status* status = wasinn_wamr_register_guests(GuestOf, nullptr, &nn_);
    if (status == nullptr) return {};
    std::string line = OneLine(wasinn_status_message(status));
    wasinn_status_free(status);
    return std::unexpected(std::move(line));
  }

  wasinn_wamr* nn() const { return nn_; }

  // A guest that is being run. The number of threads of a guest is one setting of WAMR for all guests, which must not
  // change while any runs: it is that of the first of the concurrent runs.
  class Run {
   public:
    Run(const Runtime& runtime, uint32_t max_threads) : runtime_(runtime) {
      const std::lock_guard lock(runtime_.mutex_);
      if (runtime_.running_++ == 0) wasm_runtime_set_max_thread_num(std::max(max_threads, 1u));
    }
    ~Run() {
      const std::lock_guard lock(runtime_.mutex_);
      --runtime_.running_;
    }
    Run(const Run&) = delete;
    Run& operator=(const Run&) = delete;

   private:
    const Runtime& runtime_;
  };

 private:
  bool initialized_ = false;
  wasinn_wamr* nn_ = nullptr;
  mutable std::mutex mutex_;
  mutable size_t running_ = 0;
};

// In Wasmtime's format for types of functions.
std::string TypeText(const wasinn_function& function) {
  const std::string_view params = function.params, results = function.results;
  std::string text = "(func";
  for (const char param : params) text += param == 'i' ? " i32" : " i64";
  return text + (results.empty() ? ")" : results == "i" ? " -> i32)" : " -> i64)");
}

std::string TypeText(wasm_func_type_t type) {
  const auto word = [](wasm_valkind_t kind) {
    switch (kind) {
      case WASM_I32:
        return " i32";
      case WASM_I64:
        return " i64";
      case WASM_F32:
        return " f32";
      case WASM_F64:
        return " f64";
      default:
        return " another";
    }
  };
  std::string text = "(func";
  for (uint32_t i = 0; i < wasm_func_type_get_param_count(type); ++i)
    text += word(wasm_func_type_get_param_valkind(type, i));
  const uint32_t results = wasm_func_type_get_result_count(type);
  if (results > 0) text += " ->";
  for (uint32_t i = 0; i < results; ++i) text += word(wasm_func_type_get_result_valkind(type, i));
  return text + ")";
}

class ModuleProgram final : public engines::Program {
 public:
  // `invoke`: as in EngineOptions.
  ModuleProgram(std::shared_ptr<const Runtime> runtime, std::string invoke)
      : runtime_(std::move(runtime)), invoke_(std::move(invoke)) {}
  ~ModuleProgram() override {
    if (module_ != nullptr) wasm_runtime_unload(module_);
  }

  // Compiles and links.
  Result<void> Load(std::string bytes) {
    bytes_ = std::move(bytes);
    memories_ = engines::MemoriesOf(bytes_);
    if (const uint64_t elements = engines::TableElements(bytes_); elements > kMaxTableElements) {
      return std::unexpected(
          fmt::format("its tables begin with {} elements, and may with {}", elements, kMaxTableElements));
    }
    const char* const feature = FeatureBeyondWamr(bytes_);
    ErrorText error = {};
    module_ = wasm_runtime_load(reinterpret_cast<uint8_t*>(bytes_.data()), static_cast<uint32_t>(bytes_.size()),
                                error.data(), error.size());
    if (module_ == nullptr) return std::unexpected(RefusalOf(feature, OneLine(error.data())));
    if (Result<void> program = CheckProgram(); !program) return program;
    // A thread that only computes would go on for ever when its guest ends, and WAMR waits for it.
    if (engines::KindOf(bytes_) == engines::WasmKind::kWamrAot && CanSpawnThreads(module_) && !LooksForItsEnd(bytes_)) {
      return std::unexpected("nothing could end its threads: compile it with wamrc --enable-multi-thread");
    }
    return CheckImports();
  }

  Exit Run(const RunOptions& options) const override {
    const ThreadEnvironment thread;
    ErrorText error = {};
    if (options.max_threads == 0 && CanSpawnThreads(module_)) {
      return Exit::Failed("the program imports a function that spawns threads, and may have none");
    }
    if (auto kept = CanKeep(options); !kept) return Exit::Failed(kept.error());
    const Result<uint64_t> memory = engines::ShareOfMemory(memories_, options.max_memory_bytes);
    if (!memory) return Exit::Failed(memory.error());
    if (TableBytes() > engines::ShareOfTables(options.max_memory_bytes)) {
      return Exit::Failed(
          fmt::format("the program's tables may have {} bytes, over a quarter of the limit of {} "
                      "(limits.max_memory_bytes)",
                      TableBytes(), options.max_memory_bytes));
    }
    const Runtime::Run among_others(*runtime_, options.max_threads);
    const wasm_module_inst_t instance = Instantiate(options, *memory, &error);
    if (instance == nullptr) return FailedToStart(error.data(), options);
    if (options.guest != nullptr) wasinn_status_free(wasinn_wamr_attach(runtime_->nn(), instance));
    const Exit exit = BeginsWithin(instance, *memory)
                          ? Execute(instance, options)
                          : Exit::Failed("the program begins with a memory over the limit (limits.max_memory_bytes)");
    if (options.guest != nullptr) wasinn_guest_close(options.guest);  // before the instance, which has the memory
    wasm_runtime_deinstantiate(instance);
    return exit;
  }

 private:
  // WAMR reserves the room of all that tables may grow to: twice their initial size, and at least 1,024 elements each.
  uint64_t TableBytes() const {
    constexpr uint64_t kLeast = 1024;
    return sizeof(void*) * (2 * engines::TableElements(bytes_) + kLeast * engines::TablesOf(bytes_));
  }

  // Refuses limits that only other engines can enforce.
  static Result<void> CanKeep(const RunOptions& options) {
    if (options.streams) return std::unexpected("WAMR has guests read and write this process's own streams");
    if (options.max_fuel != 0)
      return std::unexpected("WAMR measures no fuel (limits.max_fuel): --engine wasmtime does");
    if (options.max_table_elements != UINT64_MAX) {
      return std::unexpected("WAMR has no limit for tables (limits.max_table_elements): --engine wasmtime has");
    }
    for (const engines::Directory& folder : options.directories) {
      if (!folder.read_only) continue;
      return std::unexpected("WAMR has no read-only folders, such as " + folder.host + ": --engine wasmtime has");
    }
    return {};
  }

  // Only for code from WAMR's compiler, the initial size of its memory is not known before.
  static bool BeginsWithin(wasm_module_inst_t instance, uint64_t limit) {
    const wasm_memory_inst_t memory = wasm_runtime_get_default_memory(instance);
    return memory == nullptr ||
           wasm_memory_get_cur_page_count(memory) * wasm_memory_get_bytes_per_page(memory) <= limit;
  }

  // Interrupts end the interpreter in a loop or a function, and compiled code with shared memory that LooksForItsEnd.
  // WAMR wakes threads that wait or are in the system. After its return nothing interrupts any more: all threads are
  // marked, and WAMR waits for them with a lock held.
  Exit Execute(wasm_module_inst_t instance, const RunOptions& options) const {
    // WAMR marks environments, and would make this one only at its beginning: an earlier interrupt would be lost.
    if (wasm_runtime_get_exec_env_singleton(instance) == nullptr) return Exit::Failed("out of memory");
    engines::GuestRun run(options.guest, [instance] {
      if (wasm_runtime_get_exception(instance) == nullptr) wasm_runtime_terminate(instance);
    });
    if (!run.begun()) return Exit::Failed(run.begun().error());
    Result<void> begun;
    if (invoke_.empty()) {
      wasm_application_execute_main(instance, 0, nullptr);
    } else {
      begun = Invoke(instance, invoke_, std::span(options.args).subspan(1));
    }
    const Exit interrupted = run.End(Exit());
    const Exit exit = begun ? HowItEnded(instance, options.args[0]) : Exit::Failed(begun.error());
    return interrupted.kind == Exit::Kind::kInterrupted ? interrupted : exit;
  }

  wasm_module_inst_t Instantiate(const RunOptions& options, uint64_t memory, ErrorText* error) const {
    std::vector<char*> argv;
    std::vector<std::string> variables, folders;
    std::vector<const char*> env, dirs;
    argv.reserve(options.args.size());
    for (const std::string& arg : options.args) argv.push_back(const_cast<char*>(arg.c_str()));
    for (const auto& [name, value] : options.env) variables.push_back(fmt::format("{}={}", name, value));
    for (const engines::Directory& folder : options.directories) {
      if (folder.guest.find("::") != std::string::npos || folder.guest.ends_with(':')) {
        fmt::format_to_n(error->data(), error->size() - 1,
                         "WAMR has no folders with '::' in their names, or ':' at the end of one");
        return nullptr;
      }
      folders.push_back(folder.guest + "::" + folder.host);
    }
    for (const std::string& variable : variables) env.push_back(variable.c_str());
    for (const std::string& folder : folders) dirs.push_back(folder.c_str());
    InstantiationArgs2* args = nullptr;
    if (!wasm_runtime_instantiation_args_create(&args)) return nullptr;
    wasm_runtime_instantiation_args_set_default_stack_size(args, kOperandStack);
    wasm_runtime_instantiation_args_set_custom_data(args, options.guest);
    // 0 is no limit, and a memory without any page cannot have a limit of less than one page.
    const uint64_t pages = std::clamp<uint64_t>(memory / kPage, 1, kMaxPages);
    if (memory != UINT64_MAX) wasm_runtime_instantiation_args_set_max_memory_pages(args, static_cast<uint32_t>(pages));
    wasm_runtime_instantiation_args_set_wasi_arg(args, argv.data(), static_cast<int>(argv.size()));
    wasm_runtime_instantiation_args_set_wasi_env(args, env.data(), static_cast<uint32_t>(env.size()));
    wasm_runtime_instantiation_args_set_wasi_dir(args, nullptr, 0, dirs.data(), static_cast<uint32_t>(dirs.size()));
    const wasm_module_inst_t instance =
        wasm_runtime_instantiate_ex2(module_, args, error->data(), static_cast<uint32_t>(error->size()));
    wasm_runtime_instantiation_args_destroy(args);
    return instance;
  }

  Result<void> CheckProgram() const {
    if (!invoke_.empty()) return CheckInvoked(module_, invoke_);
    if (HasStart()) return {};
    return std::unexpected(
        "the module exports no function _start and has no start section, so it is a library and not a program");
  }

  bool HasStart() const {
    const int32_t count = wasm_runtime_get_export_count(module_);
    for (int32_t i = 0; i < count; ++i) {
      wasm_export_t item = {};
      wasm_runtime_get_export_type(module_, i, &item);
      if (item.kind == WASM_IMPORT_EXPORT_KIND_FUNC && std::string_view(item.name) == kStart) {
        return wasm_func_type_get_param_count(item.u.func_type) == 0 &&
               wasm_func_type_get_result_count(item.u.func_type) == 0;
      }
    }
    return false;
  }

  // WAMR would let the guest run into a missing function.
  Result<void> CheckImports() const {
    size_t known = 0;
    const wasinn_function* const* functions = wasinn_functions(&known);
    const int32_t count = wasm_runtime_get_import_count(module_);
    for (int32_t i = 0; i < count; ++i) {
      wasm_import_t item = {};
      wasm_runtime_get_import_type(module_, i, &item);
      if (item.kind != WASM_IMPORT_EXPORT_KIND_FUNC || item.linked) continue;
      const std::string not_served = engines::NotServed({item.module_name, item.name});
      if (!not_served.empty()) return std::unexpected(not_served);
      const std::string name = fmt::format("`{}::{}`", item.module_name, item.name);
      for (size_t f = 0; f < known; ++f) {
        if (std::string_view(functions[f]->module) != item.module_name ||
            std::string_view(functions[f]->name) != item.name) {
          continue;
        }
        return std::unexpected(fmt::format("incompatible import type for {}: it is {} here, and the module has {}",
                                           name, TypeText(*functions[f]), TypeText(item.u.func_type)));
      }
      return std::unexpected("unknown import: " + name);
    }
    return {};
  }

  std::shared_ptr<const Runtime> runtime_;
  const std::string invoke_;  // "": the program
  std::string bytes_;         // the module points into it
  wasm_module_t module_ = nullptr;
  std::vector<engines::MemoryType> memories_;
};

class WamrEngine final : public engines::Engine {
 public:
  WamrEngine(std::shared_ptr<const Runtime> runtime, EngineOptions options)
      : runtime_(std::move(runtime)), options_(std::move(options)) {}

  Result<std::unique_ptr<engines::Program>> Load(const std::string& path) const override {
    Result<engines::WasmFile> file = engines::ReadWasmFile(path);
    if (!file) return std::unexpected(file.error());
    auto fail = [&path](const std::string& why) { return std::unexpected(path + ": " + why); };
    if (file->kind == engines::WasmKind::kText) {
      Result<std::string> wasm = engines::ParseText(file->bytes, options_.compile);
      if (!wasm) return fail(wasm.error());
      file->bytes = std::move(*wasm);
      file->kind = engines::KindOf(file->bytes);
    }
    if (file->kind == engines::WasmKind::kComponent) return fail("WAMR runs no components: --engine wasmtime does");
    if (file->kind == engines::WasmKind::kWasmtimeCode) {
      return fail("Wasmtime's compiler made this: only --engine wasmtime runs it");
    }
    if (file->kind == engines::WasmKind::kWamrAot) {
      if (auto may = engines::MayRunCode(path, options_); !may) return fail(may.error());
    }
    if (options_.invoke.empty()) {
      if (auto start = engines::StartAsExport(file->bytes)) file->bytes = std::move(*start);
    }
    auto program = std::make_unique<ModuleProgram>(runtime_, options_.invoke);
    if (Result<void> loaded = program->Load(std::move(file->bytes)); !loaded) return fail(loaded.error());
    return program;
  }

  Result<std::string> Compile(const std::string&) const override {
    return std::unexpected("wasinn compile is for Wasmtime: WAMR's own compiler is wamrc (docs/wamr.md)");
  }

 private:
  std::shared_ptr<const Runtime> runtime_;
  const EngineOptions options_;
};

}  // namespace
}  // namespace wasinn::wamr

namespace wasinn::engines {

Result<std::unique_ptr<Engine>> NewWamrEngine(const EngineOptions& options) {
  auto runtime = std::make_shared<wamr::Runtime>();
  if (Result<void> started = runtime->Start(); !started) return std::unexpected(started.error());
  return std::make_unique<wamr::WamrEngine>(std::move(runtime), options);
}

}  // namespace wasinn::engines
