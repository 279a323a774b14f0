// compute_once of wasinn_ext_0: an inference in one call.
#pragma once

#include "abi/witx/call.h"

namespace wasinn::abi {

// compute_once(graph_or_context, inputs_ptr, inputs_len, outputs_ptr, outputs_len)
core::Status ComputeOnce(const Invocation& call);

}  // namespace wasinn::abi
