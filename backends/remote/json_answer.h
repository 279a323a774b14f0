// What servers say in JSON.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "remote/answer.h"
#include "remote/metadata.h"

namespace wasinn::remote {

// All throw WASINN_ERROR_RUNTIME for what is none.

Metadata ReadJsonMetadata(std::string_view json);

// Whether the server knows one of the extensions that are called so.
bool HasExtension(std::string_view json, std::span<const std::string_view> names);

// An answer of `head` bytes of JSON, and raw bytes behind them. Tensors of JSON refer to it. At most `most` outputs.
std::vector<AnsweredTensor> ReadJsonAnswer(std::string_view answer, uint64_t head, size_t most);

}  // namespace wasinn::remote
