// What the hostile components share: lines of results, and the honest inference that must still work after whatever
// they did.
//
// A guest prints one line for each attack, "WHAT: CODE". The test knows them all, in order.
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wasi_nn_component.h"

enum { kPixels = 64 };
static const uint32_t kImageDims[] = {1, 1, 8, 8};

const char* CodeName(uint32_t code);

// Each prints one attack's line, at once (the host may be about to stop this guest), and drops the error.
// Returns the handle, or 0.
uint32_t TellResult(const char* what, wasi_nn_result result);
// Frees the outputs, or with `keep` leaves them to the caller. Returns whether there are any.
bool TellOutputs(const char* what, wasi_nn_outputs* outputs, bool keep);

// Both end the guest with a message if they fail.
wasi_nn_graph LoadNamed(const char* name);
wasi_nn_context NewContext(const char* name);

// A two as the model "digits" takes it: pixels, and a tensor of them.
const float* Two(void);
wasi_nn_tensor NewTwo(void);
// Its name is the model's.
wasi_nn_named_tensor Named(const char* name, wasi_nn_tensor tensor);
// Whether this is the answer to a two.
bool IsTwo(wasi_nn_tensor output);
// Computes it in a context of "digits"; ends the guest if that fails. The outputs are the caller's.
wasi_nn_outputs ComputeTwo(wasi_nn_context context);
// With a context that was made at its first call; prints "honest inference: a 2".
void HonestInference(void);
