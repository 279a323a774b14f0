// Properties of TensorFlow's operations.
#pragma once

#include <string_view>

namespace wasinn::tensorflow {

// Whether an operation computes its outputs from its inputs and its attributes, and does nothing else: no file, no
// network, no code from elsewhere, no memory that outlives the run, no way to end the OS process.
bool IsPure(std::string_view op);

// Whether an operation only reads state that loading has put into the session: variables, and tables.
bool OnlyReadsState(std::string_view op);

// Whether an otherwise pure operation draws from random numbers of its own, whose state advances in each run.
bool DrawsRandom(std::string_view op);

// Whether every output of an operation is known to be a whole buffer: one that the operation allocated for it, or that
// an input is all of. If it calls functions, this depends on their operations. Other operations may return a part of a
// larger buffer, which keeps the larger one (Slice, Split, Unpack).
bool GivesWholeBuffers(std::string_view op);

// Whether an operation is known to reach out of the OS process, or to run code outside of the graph. A model may only
// have these if the host allows it to one of its own models.
bool ReachesOut(std::string_view op);

// Whether a SavedModel uses this operation to save and restore its variables. Loading by name runs the restoring ones.
bool IsOfSaver(std::string_view op);

}  // namespace wasinn::tensorflow
