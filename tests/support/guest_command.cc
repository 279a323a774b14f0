#include "support/guest_command.h"

#include "support/test.h"
#include "support/this_build.h"

namespace wasinn::testing {
namespace {

namespace fs = std::filesystem;

bool EngineIs(std::string_view name) {
  const char* engine = std::getenv("WASINN_ENGINE");
  return engine != nullptr && engine == name;
}

// "HOST::GUEST" as "GUEST:HOST".
std::string WasmEdgeDirectory(const std::string& directory) {
  const size_t colons = directory.find("::");
  if (colons == directory.npos) return directory;
  return directory.substr(colons + 2) + ":" + directory.substr(0, colons);
}

// The plugin reads settings and models from the environment, under the names that the command knows too.
struct Variable {
  const char* flag;
  const char* name;
};
constexpr Variable kVariables[] = {{"--config", "WASINN_CONFIG"},
                                   {"--dialect", "WASINN_DIALECT"},
                                   {"--threads", "WASINN_THREADS"},
                                   {"--log-level", "WASINN_LOG_LEVEL"},
                                   {"--nn-max-graphs", "WASINN_NN_MAX_GRAPHS"},
                                   {"--nn-max-contexts", "WASINN_NN_MAX_CONTEXTS"},
                                   {"--nn-max-bytes", "WASINN_NN_MAX_BYTES"},
                                   {"--nn-timeout", "WASINN_NN_TIMEOUT"},
                                   {"--nn-load", "WASINN_NN_LOAD"},
                                   {"--nn-isolated-gpu", "WASINN_NN_ISOLATED_GPU"}};

// A guest of the build's as native code, where the build made that for this engine.
std::string Compiled(const std::string& module, const std::string& engine) {
  const fs::path path(module), compiled = fs::path(GuestFile(engine + "/" + path.stem().string()));
  return path.parent_path() == compiled.parent_path().parent_path() && fs::exists(compiled) ? compiled.string()
                                                                                            : module;
}

class WasmEdgeCommand {
 public:
  WasmEdgeCommand() { command_.argv = {FrameworkFile("wasmedge"), "run", "--enable-threads"}; }

  void Add(const std::string& flag, const std::string& value) {
    if (flag == "--model" || flag == "--models") {
      models_ += models_.empty() ? value : ";" + value;
    } else if (flag == "--dir") {
      Give(flag, WasmEdgeDirectory(value));
    } else if (flag == "--env" || flag == "--nn-preload") {
      Give(flag, value);
    } else if (const auto* variable = std::ranges::find(kVariables, flag, &Variable::flag);
               variable != std::end(kVariables)) {
      command_.environment.push_back(std::string(variable->name) + "=" + value);
    } else {
      ADD_FAILURE() << flag << " means nothing to WasmEdge";
    }
  }

  GuestCommand Finish(const std::string& module, const std::vector<std::string>& args) {
    command_.environment.emplace_back("WASMEDGE_PLUGIN_PATH=" + InThisBuild("lib/wasmedge"));
    if (!models_.empty()) command_.environment.push_back("WASINN_MODELS=" + models_);
    command_.argv.push_back(Compiled(module, "wasmedge"));
    command_.argv.insert(command_.argv.end(), args.begin(), args.end());
    return std::move(command_);
  }

 private:
  void Give(const std::string& flag, const std::string& value) {
    command_.argv.push_back(flag);
    command_.argv.push_back(value);
  }

  GuestCommand command_;
  std::string models_;
};

GuestCommand OfWasmEdge(const std::vector<std::string>& flags, const std::string& module,
                        const std::vector<std::string>& args) {
  WasmEdgeCommand command;
  for (size_t i = 0; i < flags.size(); ++i) {
    if (flags[i] != "--no-cache") {  // of what nothing keeps
      const size_t value = i + 1;
      command.Add(flags[i], value < flags.size() ? flags[value] : "");
      i = value;
    }
  }
  return command.Finish(module, args);
}

// The tests' own word for guests that WAMR's compiler made.
bool OnWamrsCompiler() { return EngineIs("wamr-aot"); }

}  // namespace

bool OnWamr() { return EngineIs("wamr") || OnWamrsCompiler(); }
bool OnWasmEdge() { return EngineIs("wasmedge"); }

bool OnlyPairs() { return std::getenv("WASINN_PAIRWISE") != nullptr; }

bool IsThisEnginesPart(size_t number) {
  constexpr size_t kEngines = 2;  // of the gate: Wasmtime and WAMR
  return !OnlyPairs() || number % kEngines == (OnWamr() ? 1 : 0);
}

std::vector<std::string> LibrariesOfTheEngine() {
  const std::string run = OnWasmEdge() ? FrameworkFile("wasmedge-run") : "";
  return run.empty() ? std::vector<std::string>() : std::vector{run};
}

bool RanWithLibrariesOfTheEngine() {
  std::vector<std::string> argv = LibrariesOfTheEngine();
  if (argv.empty() || std::getenv("TESTS_WITH_LIBRARIES_OF_THE_ENGINE") != nullptr) return false;
  const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
  argv.push_back(fs::read_symlink("/proc/self/exe").string());
  argv.push_back(std::string("--gtest_filter=") + test->test_suite_name() + "." + test->name());
  const CommandResult result = RunCommand(argv, {"TESTS_WITH_LIBRARIES_OF_THE_ENGINE=1"});
  EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
  std::fputs(result.out.c_str(), stdout);
  return true;
}

GuestCommand MakeGuestCommand(const std::vector<std::string>& flags, const std::string& module,
                              const std::vector<std::string>& args) {
  if (OnWasmEdge()) return OfWasmEdge(flags, module, args);
  GuestCommand command;
  command.argv = {InThisBuild("bin/wasinn"), "run"};
  command.argv.insert(command.argv.end(), flags.begin(), flags.end());
  if (OnWamrsCompiler()) {
    command.environment.emplace_back("WASINN_ENGINE=wamr");
    command.argv.emplace_back("--allow-precompiled");
    command.argv.push_back(Compiled(module, "wamr-aot"));
    EXPECT_NE(command.argv.back(), module) << "is not compiled: wasinn_compile_for_wamr";
  } else {
    command.argv.push_back(module);
  }
  command.argv.insert(command.argv.end(), args.begin(), args.end());
  // Compiled guests are kept next to the build, and not in the user's own cache.
  command.environment.emplace_back("XDG_CACHE_HOME=" + InThisBuild("cache"));
  return command;
}

CommandResult RunGuest(const std::vector<std::string>& flags, const std::string& guest,
                       const std::vector<std::string>& args) {
  const GuestCommand command = MakeGuestCommand(flags, GuestFile(guest), args);
  return RunCommand(command.argv, command.environment);
}

}  // namespace wasinn::testing
