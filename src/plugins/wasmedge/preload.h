// The option --nn-preload, which may be there several times.
#pragma once

#include <wasmedge/wasmedge.h>

#include <expected>
#include <string>
#include <vector>

namespace wasinn::wasmedge_plugin {

// The option as WasmEdge's C API has it: one string.
WasmEdge_ProgramOption PreloadOption();

// Its values; or why they cannot be known.
std::expected<std::vector<std::string>, std::string> Preloads();

// Those of these arguments of a program, whose parser came to `last` as the last of them.
std::expected<std::vector<std::string>, std::string> PreloadsOf(const std::vector<std::string>& args,
                                                                const std::string& last);

}  // namespace wasinn::wasmedge_plugin
