#include "engines/not_served.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "engines/wasm_file.h"

namespace wasinn::engines {
namespace {

// WASI preview 1 has four functions for sockets that a guest was given. WasmEdge added functions that make sockets.
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

// Each version is an interface of its own (rust/wasinn/src/wit/define.rs).
constexpr std::string_view kNn = "wasi:nn/";
constexpr std::string_view kNn03 = "0.3.0-draft";
constexpr std::array<std::string_view, 4> kServedNn = {"0.2.0-rc-2024-06-25", "0.2.0-rc-2024-08-19",
                                                       "0.2.0-rc-2024-10-28", kNn03};

std::string BuiltForWasi03(const char* how, std::string_view interface) {
  return fmt::format(
      "it {} `{}`: it is built for WASI 0.3, which wasinn gives only to components that are programs or answer "
      "requests, on Wasmtime",
      how, interface);
}

std::string OtherNn(std::string_view interface, const Served& served) {
  const size_t at = interface.find('@');
  const std::string_view version = at == interface.npos ? std::string_view() : interface.substr(at + 1);
  if (version == kNn03 && !served.wasi03) return BuiltForWasi03("imports", interface);
  if (std::ranges::find(kServedNn, version) != kServedNn.end()) return "";
  return fmt::format("it imports `{}`{}: served are the versions {}", interface,
                     version.empty() ? " without a version, as before 0.2.0-rc" : "", fmt::join(kServedNn, ", "));
}

// Its interfaces all begin with "wasi:".
bool IsOfWasi03(std::string_view interface) {
  return interface.starts_with("wasi:") && interface.find("@0.3.") != interface.npos;
}

// "": it is served. A release candidate is compatible with nothing else.
std::string OfWasi03(const char* how, std::string_view interface, const Served& served) {
  if (interface.find('-', interface.find('@')) != interface.npos) {
    return fmt::format("it {} `{}`, which is a candidate of WASI 0.3; wasinn serves the release, 0.3.0", how,
                       interface);
  }
  return served.wasi03 ? "" : BuiltForWasi03(how, interface);
}

}  // namespace

std::string NotServed(const Import& import, const Served& served) {
  if (import.module.starts_with(kNn)) return OtherNn(import.module, served);
  if (IsOfWasi03(import.module)) {
    if (std::string why = OfWasi03("imports", import.module, served); !why.empty()) return why;
  }
  if (IsWasmEdgesSocket(import)) {
    return fmt::format(
        "it imports `{}::{}`, one of WasmEdge's sockets: wasinn run gives guests no network. WasmEdge's own "
        "program with wasinn's plugin runs it",
        import.module, import.name);
  }
  for (const Family& family : kFamilies) {
    if (!import.module.starts_with(family.prefix) || (served.http && family.prefix == kHttp)) continue;
    return fmt::format("it imports `{}`, {}, {}", import.module, family.what, family.where);
  }
  return "";
}

bool UsesWasi03(std::string_view wasm) {
  const auto is_of_it = [](const Import& import) { return IsOfWasi03(import.module); };
  return KindOf(wasm) == WasmKind::kComponent &&
         (std::ranges::any_of(ImportsOf(wasm), is_of_it) || std::ranges::any_of(ExportsOfComponent(wasm), IsOfWasi03));
}

std::optional<std::string> FirstNotServed(std::string_view wasm, const Served& served) {
  for (const Import& import : ImportsOf(wasm)) {
    if (std::string why = NotServed(import, served); !why.empty()) return why;
  }
  for (const std::string_view name : ExportsOfComponent(wasm)) {
    if (!IsOfWasi03(name)) continue;
    if (std::string why = OfWasi03("exports", name, served); !why.empty()) return why;
  }
  return std::nullopt;
}

}  // namespace wasinn::engines
