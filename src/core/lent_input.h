// Inputs that stay in guest memory until they are computed on, where the host's policy says so (policy.inputs).
#pragma once

#include <wasinn/wasinn.h>

#include <cstddef>
#include <optional>
#include <span>

#include "core/tensor.h"

namespace wasinn::core {

// What is kept of such an input between two calls: never an address of the host's, for the memory may move or go.
struct LentInput {
  TensorDesc tensor;   // as the framework shall see it
  uint64_t memory[2];  // whose
  uint64_t offset, size;
};

// Whether bytes of this memory may be left where they are: the engine tells which memory it is, and no thread but the
// caller's can write it.
bool IsLendable(const wasinn_memory& memory);

// The bytes, if the memory is the one that they were left in and still has them.
std::optional<std::span<const uint8_t>> FindLentBytes(const LentInput& input, const wasinn_memory& memory);

// Whether a framework may read the bytes in place: what it asks of an address, and that it does not leave the memory
// when it reads some bytes more than there are. `align` is a power of two.
bool IsReadable(std::span<const uint8_t> bytes, size_t align, const wasinn_memory& memory);

// Whether an address is one of the memory's.
bool LiesIn(const wasinn_memory& memory, const void* data);

}  // namespace wasinn::core
