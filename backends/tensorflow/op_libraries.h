// Libraries of custom operators. TensorFlow has one list of operators in an OS process, so a library's operators are
// there for every graph: this knows which graphs may have them.
#pragma once

#include <span>
#include <string>

#include "tensorflow/graph_scan.h"
#include "tensorflow/tf_library.h"

namespace wasinn::tensorflow {

// Opens them, each once in an OS process. Thread-safe.
void OpenOpLibraries(const TfLibrary& library, std::span<const std::string> paths);

// Throws WASINN_ERROR_UNSUPPORTED_OPERATION if the graph has an operator of any opened library. For a model whose
// configuration lists none.
void CheckHasNoneOfLibraries(const GraphScan& scan);

}  // namespace wasinn::tensorflow
