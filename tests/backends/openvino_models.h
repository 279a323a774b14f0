// Models of tests/models/openvino as a guest brings them: XML, and weights if there are any.
#pragma once

#include <filesystem>
#include <string>

#include "backends/test_host.h"

namespace wasinn::test {

inline std::string IrXml(const std::string& name) { return ModelBytes(name + ".xml"); }

// Load options for any model of this backend.
inline LoadOptions OpenVinoOptions() { return {.encoding = "openvino", .keeps_bytes = true}; }
inline LoadOptions IrOptions(const std::string& name) {
  LoadOptions options = OpenVinoOptions();
  const std::string weights = ModelPath(name + ".bin");
  if (std::filesystem::exists(weights)) options.more_bytes.push_back(ReadFile(weights));
  return options;
}

}  // namespace wasinn::test
