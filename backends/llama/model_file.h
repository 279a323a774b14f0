// A model's bytes as the file that llama.cpp reads.
#pragma once

#include <wasinn/backend.h>

#include <cstdio>
#include <memory>

namespace wasinn::llama {

using FilePtr = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

// llama.cpp maps files. What comes from a guest has none, so it gets one in memory, which nobody can shorten or write
// to any more. NULL: this OS process may make none (src/worker/sandbox.h), or none so large (RLIMIT_FSIZE).
FilePtr FileInMemory(const wasinn_builder& builder);

// The bytes themselves, which can be read like a file but not mapped.
FilePtr BytesAsFile(const wasinn_builder& builder);

// Whether the builder's path still leads to a file of its size.
bool HasFile(const wasinn_builder& builder);

}  // namespace wasinn::llama
