// Calls of wasi:nn like those of an engine for a component, in any order, with any lists, strings and reps. The engine
// lifts them, so lists and strings are sound, but all of their contents can be wrong.
#pragma once

#include <wasinn/wasinn.h>

#include "fuzz/choices.h"

namespace wasinn::fuzz {

// The guest's limits are those of in_process_host.h, except for the bytes of its models and tensors. At the end it
// holds nothing.
void AttackAsComponent(Choices& choices, wasinn_guest* guest, uint64_t most_bytes);

}  // namespace wasinn::fuzz
