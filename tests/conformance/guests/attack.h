// The calls of a form of wasi-nn in plain numbers, so that a hostile guest can put anything where a pointer belongs.
// Which form it is the linked source file says: attack_witx.c, attack_wamr.c or attack_ext.c.
#pragma once

#include <stdint.h>

// Each returns an errno. Addresses may be any number.
uint32_t RawLoad(uint32_t builders, uint32_t count, uint32_t encoding, uint32_t target, uint32_t out);
uint32_t RawLoadByName(uint32_t name, uint32_t size, uint32_t out);
uint32_t RawInit(uint32_t graph, uint32_t out);
uint32_t RawCompute(uint32_t context);

// The form's tensor for input `index`. `size` means nothing to a form that goes by the shape.
typedef struct RawTensor {
  uint32_t index, dims, rank, type, data, size;
} RawTensor;
uint32_t RawSet(uint32_t context, const RawTensor* tensor);
// The form's own record of a tensor is at `record`.
uint32_t RawSetRecord(uint32_t context, uint32_t record);
// `size` bytes of room at `buffer`; the size that is needed goes to `out`.
uint32_t RawGet(uint32_t context, uint32_t index, uint32_t buffer, uint32_t size, uint32_t out);

// The form's numbers of the element types f32 and u8, and the least number that is none.
extern const uint32_t kRawF32, kRawU8, kRawNoType;

// Attacks on the functions that only this form has; with the handles of a graph and a context, which stay.
void OwnAttacks(uint32_t graph, uint32_t context);

static inline uint32_t Address(const volatile void* pointer) { return (uint32_t)pointer; }
// The number of the first byte that is outside of memory.
static inline uint32_t End(void) { return (uint32_t)__builtin_wasm_memory_size(0) << 16; }

// The results of many calls: prints "WHAT: N x ERRNO, …".
typedef struct Tally {
  uint32_t counts[16];
} Tally;
void Add(Tally* tally, uint32_t error);
void PrintTally(const char* what, const Tally* tally);

// Calls with each of some addresses at which less than four bytes are there.
enum { kBadPlaces = 5 };
uint32_t BadPlace(uint32_t i);
