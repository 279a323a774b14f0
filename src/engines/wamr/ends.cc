#include "engines/wamr/ends.h"

#include <fmt/format.h>

#include <unistd.h>
#include <string_view>

#include "engines/one_line.h"

namespace wasinn::wamr {
namespace {

using engines::Exit;

constexpr uint32_t kFirstBadCode = 126;  // larger codes have a meaning for shells
constexpr size_t kMaxFrames = 32;        // an endless recursion has thousands

std::string_view WithoutPrefix(std::string_view text, std::string_view prefix) {
  return text.starts_with(prefix) ? text.substr(prefix.size()) : text;
}

// WAMR's lines "#00: 0x0076 - main" in Wasmtime's format.
std::string Backtrace(wasm_module_inst_t instance, const std::string& program) {
  const wasm_exec_env_t env = wasm_runtime_get_exec_env_singleton(instance);
  std::string dump(env == nullptr ? 0 : wasm_runtime_get_call_stack_buf_size(env), '\0');
  if (dump.empty()) return "";
  dump.resize(wasm_runtime_dump_call_stack_to_buf(env, dump.data(), static_cast<uint32_t>(dump.size())));
  std::string text;
  size_t frames = 0;
  for (std::string_view rest = dump; !rest.empty();) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    const size_t place = line.find(": 0x"), name = line.find(" - ");
    if (!line.starts_with('#') || place == line.npos || name == line.npos) continue;
    if (++frames > kMaxFrames) continue;
    text += fmt::format("\n  {:>3}: +{} - {}!{}", frames - 1, line.substr(place + 2, name - place - 2), program,
                        line.substr(name + 3));
  }
  if (frames > kMaxFrames) text += fmt::format("\n  … {} more", frames - kMaxFrames);
  return text.empty() ? "" : "\nwasm backtrace:" + text;
}

}  // namespace

Exit HowItEnded(wasm_module_inst_t instance, const std::string& program) {
  if (const char* exception = wasm_runtime_get_exception(instance)) {
    const std::string_view why = WithoutPrefix(exception, "Exception: ");
    return Exit::Trapped(fmt::format("wasm trap: {}{}", why, Backtrace(instance, program)));
  }
  const uint32_t code = wasm_runtime_get_wasi_exit_code(instance);
  if (code < kFirstBadCode) return {Exit::Kind::kExited, static_cast<int>(code), ""};
  return Exit::Failed(fmt::format("exit with invalid exit status outside of [0..{})", kFirstBadCode));
}

Exit FailedToStart(const std::string& reason, const engines::RunOptions& options) {
  std::string line = engines::OneLine(reason);
  if (line.find("pre-opening") != line.npos) {  // with an error number
    for (const engines::Directory& folder : options.directories) {
      if (access(folder.host.c_str(), R_OK | X_OK) != 0) line = "cannot open the folder " + folder.host;
    }
  }
  // Errors in a start function or a segment are the guest's, as on other engines.
  const size_t exception = line.find("Exception: ");
  const bool trapped =
      exception != line.npos || line.find("out of bounds") != line.npos || line.find("does not fit") != line.npos;
  if (!trapped) return Exit::Failed(line);
  if (exception != line.npos) line.erase(0, exception + std::string_view("Exception: ").size());
  return Exit::Trapped("wasm trap: " + line);
}

}  // namespace wasinn::wamr
