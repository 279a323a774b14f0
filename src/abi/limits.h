// Limits that both forms of the standard share.
#pragma once

#include <cstdint>

namespace wasinn::abi {

// The limit of a guest's JSON text. Grammars of language models are the longest texts.
inline constexpr uint32_t kMaxConfigBytes = 256 << 10;

}  // namespace wasinn::abi
