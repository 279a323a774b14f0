// A model's bytes as a file for llama.cpp.
#pragma once

#include <wasinn/backend.h>

#include <cstdio>
#include <memory>

namespace wasinn::llama {

using FilePtr = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

// llama.cpp maps files. A guest's bytes become a file in memory, sealed against changes. NULL: this process may make no
// such file (src/worker/sandbox.h), or none of this size (RLIMIT_FSIZE).
FilePtr FileInMemory(const wasinn_builder& builder);

// The bytes themselves, readable like a file but not mappable.
FilePtr BytesAsFile(const wasinn_builder& builder);

// Whether the builder's path still leads to a file of its size.
bool HasFile(const wasinn_builder& builder);

}  // namespace wasinn::llama
