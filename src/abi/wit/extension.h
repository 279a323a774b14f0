// wasinn:ext, the extensions for components beyond wasi:nn: the functions of these names in wit.h's table.
#pragma once

#include <wasinn/wit.h>

#include <span>
#include <string_view>

#include "core/host/guest.h"

namespace wasinn::abi {

// The common part of graph_load and WitLoadAs. `target` is a number of wasi:nn.
core::Result<uint32_t> LoadParts(core::Guest& guest, std::span<const wasinn_bytes> builders, std::string_view format,
                                 uint32_t target);

wasinn_status* WitLastError(wasinn_guest* guest, wasinn_wit_view* out);
wasinn_status* WitDescribe(wasinn_guest* guest, uint32_t graph, wasinn_wit_view* out);
wasinn_status* WitStart(wasinn_guest* guest, uint32_t context, const wasinn_wit_named_tensor* inputs, size_t count,
                        wasinn_wit_result* out);
wasinn_status* WitNext(wasinn_guest* guest, uint32_t context, wasinn_wit_result* out, uint32_t* has_piece,
                       wasinn_wit_view* piece);
wasinn_status* WitFinish(wasinn_guest* guest, uint32_t context, wasinn_wit_result* out);
wasinn_status* WitLoadAs(wasinn_guest* guest, const wasinn_bytes* builders, size_t count, const char* format,
                         size_t format_size, uint32_t target, wasinn_wit_result* out);
wasinn_status* WitLoadByNameWithConfig(wasinn_guest* guest, const char* name, size_t size, const char* config,
                                       size_t config_size, wasinn_wit_result* out);
wasinn_status* WitSelectOutputs(wasinn_guest* guest, uint32_t context, const wasinn_bytes* names, size_t count,
                                wasinn_wit_result* out);

}  // namespace wasinn::abi
