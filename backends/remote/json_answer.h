// Servers' answers in JSON.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "remote/answer.h"

namespace wasinn::remote {

// All functions throw WASINN_ERROR_RUNTIME if the answer is invalid.

Metadata ReadJsonMetadata(std::string_view json);

// Whether the server has an extension of one of these names.
bool HasExtension(std::string_view json, std::span<const std::string_view> names);

// An answer of `head` bytes of JSON, followed by raw bytes. Tensors in JSON refer to it. At most `most` outputs.
std::vector<AnsweredTensor> ReadJsonAnswer(std::string_view answer, uint64_t head, size_t most);

}  // namespace wasinn::remote
