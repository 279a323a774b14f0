// Calls of wasi:nn as an engine makes them for a component, in any order, with any lists, strings and reps: the engine lifts
// them, so that lists and strings are sound, and all that they say may be a lie.
#pragma once

#include <wasinn/wasinn.h>

#include "fuzz/choices.h"

namespace wasinn::fuzz {

// The guest's limits are those of in_process_host.h, but for the bytes of its models and tensors. It holds nothing in the end.
void AttackAsComponent(Choices& choices, wasinn_guest* guest, uint64_t most_bytes);

}  // namespace wasinn::fuzz
