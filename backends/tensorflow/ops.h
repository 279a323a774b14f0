// What operations of TensorFlow do.
#pragma once

#include <string_view>

namespace wasinn::tensorflow {

// Whether an operation computes its outputs from its inputs and its attributes, and does nothing else: no file, no
// network, no code from elsewhere, no memory that outlives the run, no way to end the OS process.
bool IsPure(std::string_view op);

// Whether an operation only reads what loading has put into the session: variables, and tables.
bool OnlyReadsState(std::string_view op);

// Whether an operation that is pure else draws from random numbers of its own, which each run takes further.
bool DrawsRandom(std::string_view op);

// Whether every tensor that an operation gives is known to be all of its buffer: one that the operation allocated for
// it, or that an input is all of. Where it calls functions, that is for their operations to say. Others may give a part
// of a larger buffer, which keeps the larger one (Slice, Split, Unpack).
bool GivesWholeBuffers(std::string_view op);

// Whether an operation is known to reach out of the OS process, or to run what is no part of the graph. A model has none
// of these unless the host allows it to one of its own.
bool ReachesOut(std::string_view op);

// Whether a SavedModel has this operation to save and restore its variables. Loading by name runs the restoring ones.
bool IsOfSaver(std::string_view op);

}  // namespace wasinn::tensorflow
