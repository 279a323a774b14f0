// Shared by the hostile guests: wasi_ephemeral_nn with plain numbers instead of pointers, lines of results, and the
// honest inference that must still work after any attack.
//
// A guest prints one line for each attack, "WHAT: ERRNO". The test knows them all, in order.
#pragma once

#include <wasi_nn.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

namespace attack {

#define ATTACK_IMPORT(name) __attribute__((import_module("wasi_ephemeral_nn"), import_name(name)))
uint32_t Load(uint32_t builders, uint32_t count, uint32_t encoding, uint32_t target, uint32_t out)
    ATTACK_IMPORT("load");
uint32_t LoadByName(uint32_t name, uint32_t size, uint32_t out) ATTACK_IMPORT("load_by_name");
uint32_t InitContext(uint32_t graph, uint32_t out) ATTACK_IMPORT("init_execution_context");
uint32_t SetInput(uint32_t context, uint32_t index, uint32_t tensor) ATTACK_IMPORT("set_input");
uint32_t Compute(uint32_t context) ATTACK_IMPORT("compute");
uint32_t GetOutput(uint32_t context, uint32_t index, uint32_t buffer, uint32_t size, uint32_t out)
    ATTACK_IMPORT("get_output");

inline uint32_t Address(const volatile void* pointer) { return reinterpret_cast<uint32_t>(pointer); }
// The number of the first byte that is outside of memory; 0 stands for 4 GiB.
inline uint32_t End() { return static_cast<uint32_t>(__builtin_wasm_memory_size(0)) << 16; }

inline const char* Name(uint32_t error) {
  static constexpr const char* kNames[] = {"success",  "invalid_argument", "invalid_encoding",      "missing_memory",
                                           "busy",     "runtime_error",    "unsupported_operation", "too_large",
                                           "not_found"};
  if (error == WASI_NN_MODEL_NOT_FOUND) return "model_not_found";
  return error < sizeof(kNames) / sizeof(*kNames) ? kNames[error] : "no errno of wasi-nn";
}

// Prints one attack's line, at once: the host may be about to stop this guest.
inline void PrintResult(const std::string& what, uint32_t error) {
  std::printf("%s: %s\n", what.c_str(), Name(error));
  std::fflush(stdout);
}

// The layout of $tensor, in numbers.
struct RawTensor {
  uint32_t dims, rank;
  uint8_t type;
  uint8_t padding[3] = {};
  uint32_t data, size;
};
static_assert(sizeof(RawTensor) == 20);

// Bytes of a file; ends the guest if it cannot be read.
std::vector<uint8_t> ReadFile(const char* path);

uint32_t LoadBytes(const std::vector<uint8_t>& model, uint32_t* graph, uint32_t encoding = WASI_NN_ENCODING_ONNX);
uint32_t LoadNamed(const std::string& name, uint32_t* graph);
// A context of a model that the host offers; ends the guest with a message if anything fails.
uint32_t NewContext(const std::string& name);
template <typename T>
uint32_t SetValues(uint32_t context, uint32_t index, const std::vector<uint32_t>& dims, uint8_t type,
                   const std::vector<T>& values) {
  const RawTensor tensor{Address(dims.data()),
                         static_cast<uint32_t>(dims.size()),
                         type,
                         {},
                         Address(values.data()),
                         static_cast<uint32_t>(values.size() * sizeof(T))};
  return SetInput(context, index, Address(&tensor));
}

// Recognises a digit with the host's model "digits", or with a context of another one that recognises them. Made before the
// attacks, used after them.
class Honest {
 public:
  Honest();
  explicit Honest(uint32_t context) : context_(context) {}
  // Prints "honest inference: a 2".
  void Infer(const char* what = "honest inference") const;

 private:
  uint32_t context_;
};

}  // namespace attack
