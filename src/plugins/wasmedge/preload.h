// The option --nn-preload, which may be given several times.
#pragma once

#include <wasmedge/wasmedge.h>

#include <expected>
#include <string>
#include <vector>

namespace wasinn::wasmedge_plugin {

// The option of one string for WasmEdge's C API.
WasmEdge_ProgramOption PreloadOption();

// Its values; or the reason why they are unknown.
std::expected<std::vector<std::string>, std::string> Preloads();

// The values in these arguments of a program. The program's parser ended with the value `last`.
std::expected<std::vector<std::string>, std::string> PreloadsOf(const std::vector<std::string>& args,
                                                                const std::string& last);

}  // namespace wasinn::wasmedge_plugin
