// Looks through the bytes of a model before ONNX Runtime parses them.
#ifndef WASINN_BACKENDS_ONNX_MODEL_SCAN_H_
#define WASINN_BACKENDS_ONNX_MODEL_SCAN_H_

#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace wasinn::onnx {

enum class Trust {
  kHost,   // a file that the host named
  kGuest,  // bytes of a guest: an attacker's
};

struct ModelScan {
  // Nodes in all graphs; in a guest's model also those that come of functions.
  size_t nodes = 0;
  // Of a guest's model: bytes that it has beyond its own size once it is parsed, since sparse tensors become dense,
  // numbers of one byte become as long as others, and functions are inlined.
  uint64_t more_bytes = 0;
  // What its nodes, values and strings take once they are parsed, by a rough estimate.
  uint64_t parsed_bytes = 0;
  // Inputs and outputs of the model whose rank the file tells.
  std::vector<std::string> ranked;
  // Files beside a host's model that hold weights (external data), by the names that the model has for them.
  std::set<std::string> external_files;
};

// Throws WASINN_INVALID_ENCODING where the bytes are no ONNX model. From a guest it throws WASINN_SECURITY, too, where
// the model refers to something outside of itself or uses operators beside the standard's, WASINN_UNSUPPORTED_OPERATION
// for a loop that could never be cancelled, and WASINN_TOO_LARGE for functions that would never have been inlined and
// for strings longer than 64 bytes that may become elements of tensors.
// WASINN_TOO_LARGE as well where the nodes, values and strings would take more than `max_parsed_bytes` in ONNX Runtime,
// by a rough estimate.
ModelScan ScanModel(std::span<const uint8_t> bytes, Trust trust, uint64_t max_parsed_bytes = UINT64_MAX);

// Whether these are the bytes of ONNX Runtime's own format.
bool IsOrtFormat(std::span<const uint8_t> bytes);

}  // namespace wasinn::onnx

#endif  // WASINN_BACKENDS_ONNX_MODEL_SCAN_H_
