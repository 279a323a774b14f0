// `wasinn bench` with guests on WasmEdge, whose library can need a newer system than the command. So it is a separate
// program, which runs with that system's libraries. The guest is compiled to native code first, like `wasmedge compile`
// does.
#include <wasinn/wasmedge.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "bench/bench.h"
#include "bench/module_guest.h"
#include "bench/report.h"
#include "cli/log.h"

namespace wasinn::bench {
namespace {

Result<void> Check(WasmEdge_Result result) {
  if (WasmEdge_ResultOK(result)) return {};
  return std::unexpected(std::string("WasmEdge: ") + WasmEdge_ResultGetMessage(result));
}

WasmEdge_String Text(const char* text) { return WasmEdge_StringWrap(text, static_cast<uint32_t>(std::strlen(text))); }

class WasmEdgeGuest final : public ModuleGuest {
 public:
  using ModuleGuest::ModuleGuest;
  ~WasmEdgeGuest() override {
    guest_.Close();  // before the instance, which has the memory
    WasmEdge_ModuleInstanceDelete(instance_);
    WasmEdge_StoreDelete(store_);
    wasinn_wasmedge_unregister(nn_);
    WasmEdge_ExecutorDelete(executor_);
  }

  Result<void> Start(const WasmEdge_ASTModuleContext* module) {
    const Status registered(wasinn_wasmedge_register(executor_, store_, guest_.get(), &nn_));
    if (!registered.ok()) return std::unexpected(registered.message());
    if (auto made = Check(WasmEdge_ExecutorInstantiate(executor_, &instance_, store_, module)); !made) return made;
    for (int i = 0; i < kFunctions; ++i)
      functions_[i] = WasmEdge_ModuleInstanceFindFunction(instance_, Text(kNames[i]));
    memory_ = WasmEdge_ModuleInstanceFindMemory(instance_, Text("memory"));
    return {};
  }

 private:
  bool Enter(Function function, std::initializer_list<uint32_t> args) override {
    WasmEdge_Value values[kMaxArgs], result;
    uint32_t n = 0;
    for (const uint32_t arg : args) values[n++] = WasmEdge_ValueGenI32(static_cast<int32_t>(arg));
    const WasmEdge_Result done = WasmEdge_ExecutorInvoke(executor_, functions_[function], values, n, &result, 1);
    if (!WasmEdge_ResultOK(done)) [[unlikely]] {
      error_ = WasmEdge_ResultGetMessage(done);
      return false;
    }
    result_ = static_cast<uint32_t>(WasmEdge_ValueGetI32(result));
    return true;
  }
  uint8_t* Memory() const override { return WasmEdge_MemoryInstanceGetPointer(memory_, 0, 1); }

  WasmEdge_ExecutorContext* const executor_ = WasmEdge_ExecutorCreate(nullptr, nullptr);
  WasmEdge_StoreContext* const store_ = WasmEdge_StoreCreate();
  wasinn_wasmedge* nn_ = nullptr;
  WasmEdge_ModuleInstanceContext* instance_ = nullptr;
  WasmEdge_MemoryInstanceContext* memory_ = nullptr;
  WasmEdge_FunctionInstanceContext* functions_[kFunctions] = {};
};

class WasmEdgeProgram final : public GuestProgram {
 public:
  ~WasmEdgeProgram() override { WasmEdge_ASTModuleDelete(module_); }

  Result<void> Compile() {
    std::string folder = (std::filesystem::temp_directory_path() / "wasinn-bench-XXXXXX").string();
    if (::mkdtemp(folder.data()) == nullptr) return std::unexpected("cannot make " + folder);
    const std::string file = folder + "/bench.wasm";
    WasmEdge_CompilerContext* compiler = WasmEdge_CompilerCreate(nullptr);
    auto done =
        Check(WasmEdge_CompilerCompileFromBuffer(compiler, wasinn_bench_guest, wasinn_bench_guest_size, file.c_str()));
    WasmEdge_CompilerDelete(compiler);
    if (done) done = Load(file);
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
    return done;
  }

  Result<std::unique_ptr<GuestRunner>> NewGuest(const Host& host, const std::string& name,
                                                const std::vector<Tensor>& inputs,
                                                const std::vector<Tensor>& outputs) const override {
    Result<Guest> guest = NewBenchGuest(host);
    if (!guest) return std::unexpected(guest.error());
    auto program = std::make_unique<WasmEdgeGuest>(std::move(*guest));
    if (Result<void> started = program->Start(module_); !started) return std::unexpected(started.error());
    if (Result<void> ready = program->Prepare(name, inputs, outputs); !ready) return std::unexpected(ready.error());
    return program;
  }

 private:
  Result<void> Load(const std::string& file) {
    WasmEdge_LoaderContext* loader = WasmEdge_LoaderCreate(nullptr);
    auto done = Check(WasmEdge_LoaderParseFromFile(loader, &module_, file.c_str()));
    WasmEdge_LoaderDelete(loader);
    if (!done) return done;
    WasmEdge_ValidatorContext* validator = WasmEdge_ValidatorCreate(nullptr);
    done = Check(WasmEdge_ValidatorValidate(validator, module_));
    WasmEdge_ValidatorDelete(validator);
    return done;
  }

  WasmEdge_ASTModuleContext* module_ = nullptr;
};

Result<std::unique_ptr<GuestProgram>> CompileModuleForWasmEdge() {
  WasmEdge_LogSetErrorLevel();
  auto program = std::make_unique<WasmEdgeProgram>();
  if (Result<void> compiled = program->Compile(); !compiled) return std::unexpected(compiled.error());
  return program;
}

}  // namespace
}  // namespace wasinn::bench

int main(int argc, char** argv) {
  namespace bench = wasinn::bench;
  CLI::App app("Times a model natively and from a guest on WasmEdge, like `wasinn bench`.", "wasinn-bench-wasmedge");
  bench::Options options;
  options.engine = "wasmedge";
  options.compile = bench::CompileModuleForWasmEdge;
  bool json = false;
  app.add_option("MODEL", options.model, "A model file or folder")->required();
  app.add_option("--pin", options.cpus, "The CPUs to run on")
      ->delimiter(',')
      ->check(CLI::Range(0, 1023))
      ->allow_extra_args(false);
  app.add_option("--seconds", options.budget.seconds, "Seconds of each measurement; default 3")
      ->check(CLI::PositiveNumber);
  app.add_flag("--json", json, "Print JSON");
  CLI11_PARSE(app, argc, argv);
  const auto report = bench::Measure(options);
  if (!report) return wasinn::cli::Fail(report.error());
  std::fputs((json ? bench::ToJson({&*report, 1}) : bench::ToText(*report)).c_str(), stdout);
  return 0;
}
