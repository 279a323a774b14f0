// Libraries of custom operators. TensorFlow has one list of operators in an OS process: what a library adds is there for
// every graph, so it is known here which graphs may have them.
#pragma once

#include <span>
#include <string>

#include "tensorflow/graph_scan.h"
#include "tensorflow/tf_library.h"

namespace wasinn::tensorflow {

// Opens them, each once in an OS process. Any thread.
void OpenOpLibraries(const TfLibrary& library, std::span<const std::string> paths);

// Throws WASINN_ERROR_UNSUPPORTED_OPERATION if the graph has an operator of any library that was opened: of a model whose
// configuration lists none.
void CheckHasNoneOfLibraries(const GraphScan& scan);

}  // namespace wasinn::tensorflow
