// PyTorch only has an API in C++. This table has the functions that the command calls. A separate library, linked to
// libtorch, provides it, so that the command itself is not linked to libtorch.
#pragma once

#include <cstddef>
#include <cstdint>

namespace wasinn::bench {

// Of an input, the `index`th argument of forward, at a fixed address. Of an output, valid until the next run. `dtype`
// is a wasinn_dtype.
struct TorchTensor {
  uint32_t index;
  uint32_t dtype;
  uint32_t rank;
  const int64_t* dims;
  void* data;
  size_t bytes;
};

struct TorchModule;  // a model
struct TorchRun;     // its forward, with bound inputs

// If a call fails, `error` gets the reason, cut to `room` bytes with a terminating 0.
struct TorchFunctions {
  uint32_t struct_size;
  TorchModule* (*load)(const char* path, int threads, char* error, size_t room);
  void (*unload)(TorchModule*);
  TorchRun* (*new_run)(const TorchModule*, const TorchTensor* inputs, size_t n, char* error, size_t room);
  void (*free_run)(TorchRun*);
  bool (*run)(TorchRun*, char* error, size_t room);
  // After a run: the results of forward, flattened like in the backend.
  size_t (*count_outputs)(const TorchRun*);
  TorchTensor (*output)(const TorchRun*, size_t i);
};

constexpr char kTorchModuleSymbol[] = "wasinn_bench_torch";
using TorchModuleFunction = const TorchFunctions* (*)();

}  // namespace wasinn::bench
