#include "engines/not_served.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace wasinn::engines {
namespace {

// WASI preview 1 has four functions of sockets that a guest was given. WasmEdge added those that make them.
bool IsWasmEdgesSocket(const Import& import) {
  static constexpr std::array<std::string_view, 4> kStandard = {"sock_accept", "sock_recv", "sock_send",
                                                                "sock_shutdown"};
  return import.module == "wasi_snapshot_preview1" && import.name.starts_with("sock_") &&
         std::ranges::find(kStandard, import.name) == kStandard.end();
}

constexpr std::string_view kHttp = "wasi:http/";

constexpr char kNowhere[] = "which wasinn run does not provide";

struct Family {
  std::string_view prefix, what;
  const char* where = kNowhere;
};
constexpr Family kFamilies[] = {
    {kHttp, "HTTP of WASI", "which `wasinn run -S http` gives to programs that are components"},
    {"wasi:keyvalue/", "a key-value store of WASI"},
    {"wasi:config/", "configuration of WASI"},
    {"wasi:tls/", "TLS of WASI"},
    {"wasmedge_", "a plugin of WasmEdge"},
};

}  // namespace

std::string NotServed(const Import& import) {
  if (IsWasmEdgesSocket(import)) {
    return fmt::format(
        "it imports `{}::{}`, one of WasmEdge's sockets: wasinn run gives guests no network. WasmEdge's own "
        "program with wasinn's plugin runs it",
        import.module, import.name);
  }
  for (const Family& family : kFamilies) {
    if (!import.module.starts_with(family.prefix)) continue;
    return fmt::format("it imports `{}`, {}, {}", import.module, family.what, family.where);
  }
  return "";
}

std::optional<std::string> FirstNotServed(std::string_view wasm, bool serves_http) {
  for (const Import& import : ImportsOf(wasm)) {
    if (serves_http && import.module.starts_with(kHttp)) continue;
    if (std::string why = NotServed(import); !why.empty()) return why;
  }
  return std::nullopt;
}

}  // namespace wasinn::engines
