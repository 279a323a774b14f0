// wasinn compile: compiles a program to native code, in a file that `wasinn run --allow-precompiled` runs.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "cli/artifact_paths.h"
#include "cli/command.h"
#include "cli/flags.h"
#include "cli/host_flags.h"
#include "cli/log.h"
#include "cli/output_file.h"
#include "cli/progress.h"
#include "engines/engine.h"

namespace wasinn::cli {
namespace {

constexpr char kFooter[] =
    "The file is for this machine's kind of processor and this version of Wasmtime. It is native code, and\n"
    "no sandbox confines it: like a program, keep it where no one else can write.\n\n"
    "Example:\n"
    "  wasinn compile classify.wasm -o classify.cwasm\n"
    "  wasinn run --allow-precompiled --model digits=digits.onnx classify.cwasm";

struct CompileFlags {
  HostFlags host;
  std::string module, output;
  std::string engine = "wasmtime";
  // With everything that a run may provide.
  engines::EngineOptions options = {.cache = false, .http = true, .warn = {}};
};

// Writes in place if it is no file, like /dev/stdout.
bool WriteTo(const std::string& path, std::string_view bytes) {
  const int file = open(path.c_str(), O_WRONLY | O_CLOEXEC);
  return file >= 0 && WriteAt(file, bytes, 0) && close(file) == 0;
}

// Writes a whole file or none: first to another file next to it, with a unique name.
bool WriteFile(const std::string& path, std::string_view bytes) {
  std::error_code ignored;
  const auto status = std::filesystem::status(path, ignored);
  if (std::filesystem::is_other(status)) return WriteTo(path, bytes);
  std::string temporary = path + ".XXXXXX";
  const int file = mkostemp(temporary.data(), O_CLOEXEC);
  if (file < 0) return false;
  const mode_t mask = umask(0);
  umask(mask);
  bool written = fchmod(file, 0666 & ~mask) == 0 && WriteAt(file, bytes, 0);
  written = close(file) == 0 && written && std::rename(temporary.c_str(), path.c_str()) == 0;
  if (written) return true;
  const int why = errno;
  unlink(temporary.c_str());
  errno = why;
  return false;
}

int Run(CompileFlags& flags) {
  Result<Host> host = MakeHostAlone(flags.host);
  if (!host) return Fail(host.status().message());
  flags.options.pool = PoolOf(host->engine_options());
  flags.options.compile = CompileLimitsOf(host->engine_options());
  const auto module = LocalGuest(flags.module, {});
  if (!module) return Fail(module.error());
  if (flags.output.empty()) flags.output = std::filesystem::path(*module).filename().replace_extension(".cwasm");
  const auto engine =
      flags.engine == "wamr" ? engines::NewWamrEngine(flags.options) : engines::NewWasmtimeEngine(flags.options);
  if (!engine) return Fail(engine.error());
  const auto compiled = [&] {
    const Progress progress("compiling " + flags.module);
    return (*engine)->Compile(*module);
  }();
  if (!compiled) return FailWithLines(*module, compiled.error());
  if (WriteFile(flags.output, *compiled)) return 0;
  return Fail(fmt::format("cannot write {}: {}", flags.output, std::strerror(errno)));
}

}  // namespace

Command AddCompileCommand(CLI::App& app) {
  CLI::App* compile = app.add_subcommand("compile", "Compile a program to native code, which starts at once");
  auto flags = std::make_shared<CompileFlags>();
  compile
      ->add_option("MODULE", flags->module, "A module or component, WebAssembly or text: a file or an oci:// reference")
      ->required();
  compile
      ->add_option("-o,--output", flags->output,
                   "The file to write; default: MODULE's name with .cwasm, in this folder")
      ->type_name("FILE");
  compile->add_option("--engine", flags->engine, "The engine that will run it: wasmtime; WAMR has its own compiler")
      ->type_name("wasmtime|wamr")
      ->envname("WASINN_ENGINE")
      ->check(CheckEngine);
  compile->add_flag("--interruptible", flags->options.interruptible,
                    "`wasinn run --timeout` can end it; slower. Programs with threads always are");
  compile->add_flag("--metered", flags->options.metered, "`wasinn run --fuel` can limit it; slower");
  AddCompileFlags(*compile, &flags->host);
  compile->add_option("--config", flags->host.config_file, "Settings, a TOML file; only [engine] counts here")
      ->type_name("FILE")
      ->envname("WASINN_CONFIG");
  compile->footer(kFooter);
  return {compile, [flags] { return Run(*flags); }};
}

}  // namespace wasinn::cli
