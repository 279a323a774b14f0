// PyTorch's memory on the CPU, counted.
#pragma once

#include <c10/core/Allocator.h>

#include <cstddef>
#include <optional>

namespace wasinn::torch {

// Makes ours the allocator of all CPU tensors of the OS process, once. Outside of a CallScope it only allocates.
void InstallAllocator();

// The bytes that the allocator was asked for; nothing where the memory is not of this allocator.
std::optional<size_t> AllocatedBytes(const c10::DataPtr& data);
// Takes a block off the budget that it is counted in: it belongs to somebody else from now on.
void Uncharge(const c10::DataPtr& data);

}  // namespace wasinn::torch
