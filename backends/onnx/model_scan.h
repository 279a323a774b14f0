// Reads facts from a model's bytes that ONNX Runtime's API does not report.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace wasinn::onnx {

enum class Trust {
  kHost,   // a file that the host named
  kGuest,  // bytes of a guest
};

// The classes of a ZipMap, whose output is maps from them to floats. Numbers are written in digits.
struct Classes {
  std::vector<std::string> names;
  bool are_texts = false;
};

struct ModelScan {
  // Inputs and outputs of the model whose rank is in the file.
  std::vector<std::string> ranked;
  // The classes of ZipMaps' outputs, by name.
  std::map<std::string, Classes> classes;
  // The numbers of elements of sequences that the model puts together (SequenceConstruct), by name.
  std::map<std::string, size_t> sequences;
  // Files next to a host's model that hold weights (external data), by the model's names for them.
  std::set<std::string> external_files;
};

// Throws WASINN_ERROR_INVALID_ENCODING if the bytes are not an ONNX model, and WASINN_ERROR_SECURITY if a guest's model
// names files or sets options of the session, because such a model must be self-contained.
ModelScan ScanModel(std::span<const uint8_t> bytes, Trust trust);

}  // namespace wasinn::onnx
