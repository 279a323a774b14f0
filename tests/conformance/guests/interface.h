// One small interface over every form of wasi-nn, so that the same program runs over all of them. Which one it is the
// linked source file says: witx.c, wamr.c, ext.c, component.c, component_steps.c or component_ext.c.
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Element types that all forms have.
enum { kNnF32, kNnU8 };

typedef struct NnPart {
  const void* data;
  uint32_t size;
} NnPart;

// An input: by index where the form of wasi-nn goes by numbers, by name where it goes by names.
typedef struct NnInput {
  const char* name;
  int type;
  const uint32_t* dims;
  uint32_t rank;
  const void* data;
  uint32_t size;
} NnInput;

// Each returns 0, or the interface's own number of the error plus 1000 for components, whose numbers begin with 0.
uint32_t NnLoadByName(const char* name, uint32_t* graph);
uint32_t NnLoad(const NnPart* parts, uint32_t count, uint32_t encoding, uint32_t* graph);
uint32_t NnInit(uint32_t graph, uint32_t* context);
// Input 0, compute, output 0, which is called `output`. For components, an input whose name is NULL is none.
uint32_t NnInfer(uint32_t context, const NnInput* input, const char* output, void* buffer, uint32_t room,
                 uint32_t* written);

#ifdef __cplusplus
}
#endif
