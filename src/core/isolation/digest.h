// A digest by which an operator recognises a model.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace wasinn::isolation {

// As `b2sum -l 256` prints it: BLAKE2b of 32 bytes, in hexadecimal. About 1 GB/s.
std::string DigestOf(std::span<const uint8_t> bytes);

}  // namespace wasinn::isolation
