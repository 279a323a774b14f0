// WasmEdge's C API only supports plugin options of one value: it keeps the last --nn-preload. The others are taken from
// the arguments of the process, up to the argument that may be the module: the rest are the guest's.
#include "plugins/wasmedge/preload.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace wasinn::wasmedge_plugin {
namespace {

constexpr std::string_view kOption = "--nn-preload";

// WasmEdge puts the value here. Its parser writes a WasmEdge_String. WasmEdge_PluginInitWASINN, which programs call
// instead of a command line, takes the option for the one of WasmEdge's own plugin and writes a
// std::vector<std::string>: an empty one is all zeros, any other one has a value in its third word.
union Storage {
  WasmEdge_String text;
  std::vector<std::string> list;
  std::array<uintptr_t, 3> words = {};

  Storage() {}   // NOLINT(modernize-use-equals-default): the default is deleted
  ~Storage() {}  // NOLINT(modernize-use-equals-default)
};
static_assert(sizeof(Storage) == sizeof(std::vector<std::string>));

Storage& TheStorage() {
  static Storage storage;
  return storage;
}

// The process's arguments, which glibc passes to initialisers of libraries.
std::vector<std::string>& Arguments() {
  static std::vector<std::string> arguments;
  return arguments;
}
#ifdef __GLIBC__
__attribute__((constructor)) void KeepArguments(int argc, char** argv, char**) {
  Arguments().assign(argv, argv + argc);
}
#endif

bool IsPreload(const std::string& arg) {
  return arg.starts_with(kOption) && (arg.size() == kOption.size() || arg[kOption.size()] == '=');
}

bool IsOption(const std::string& arg) { return arg.size() >= 2 && arg[0] == '-'; }

// Options of the wasmedge tool; another option's value is taken for the module.
bool TakesValue(const std::string& option) {
  constexpr std::array<std::string_view, 6> kOptions = {
      "--dir", "--env", "--gas-limit", "--memory-page-limit", "--time-limit", "--forbidden-plugin"};
  return option == kOption || std::ranges::find(kOptions, option) != kOptions.end();
}

}  // namespace

WasmEdge_ProgramOption PreloadOption() {
  static constexpr WasmEdge_String kNone = {0, nullptr};
  return {"nn-preload",
          "Let the guest name this model: NAME:ENCODING:TARGET:PATH. May be given several times; WASINN_MODELS and "
          "WASINN_CONFIG name models too.",
          WasmEdge_ProgramOptionType_String, &TheStorage(), &kNone};
}

std::expected<std::vector<std::string>, std::string> PreloadsOf(const std::vector<std::string>& args,
                                                                const std::string& last) {
  if (std::ranges::count_if(args, IsPreload) < 2) return std::vector{last};
  std::vector<std::string> values;
  size_t i = args.size() > 1 && args[1] == "run" ? 2 : 1;
  for (; i < args.size() && IsOption(args[i]) && args[i] != "--"; ++i) {
    if (IsPreload(args[i]) && args[i].size() > kOption.size()) values.push_back(args[i].substr(kOption.size() + 1));
    if (!TakesValue(args[i]) || i + 1 == args.size() || IsOption(args[i + 1])) continue;
    ++i;
    if (args[i - 1] == kOption) values.push_back(args[i]);
  }
  if (!values.empty() && values.back() == last) return values;
  return std::unexpected("several --nn-preload are understood only if they come first; WASINN_MODELS names models too");
}

std::expected<std::vector<std::string>, std::string> Preloads() {
  const Storage& storage = TheStorage();
  if (storage.words[2] != 0) return storage.list;
  if (storage.text.Length == 0) return std::vector<std::string>();
  return PreloadsOf(Arguments(), std::string(storage.text.Buf, storage.text.Length));
}

}  // namespace wasinn::wasmedge_plugin
