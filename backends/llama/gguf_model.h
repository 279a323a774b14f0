// Checks of a guest's model, beyond the structure of its file.
#ifndef WASINN_BACKENDS_LLAMA_GGUF_MODEL_H_
#define WASINN_BACKENDS_LLAMA_GGUF_MODEL_H_

#include "llama/gguf_reader.h"
#include "llama/gguf_scan.h"

namespace wasinn::llama {

// Where llama.cpp asserts, divides or indexes by what the file says. Throws as ScanGguf.
void CheckGuestModel(const GgufFile& file, const ModelScan& scan, const ScanOptions& options);

}  // namespace wasinn::llama

#endif  // WASINN_BACKENDS_LLAMA_GGUF_MODEL_H_
