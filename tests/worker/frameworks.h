// The backends of this build, each with a model that makes its framework work.
#pragma once

#include <cstdint>
#include <map>
#include <ostream>
#include <string>
#include <vector>

namespace wasinn::test {

struct Framework {
  std::string name;
  std::string backend;                                 // the library
  std::vector<std::string> parts;                      // of the model, files
  std::string format;                                  // as the backend's table has it
  std::map<std::string, std::vector<int64_t>> shapes;  // of inputs that leave them open
  std::string model_config = "{}";
  std::map<uint32_t, int> threads;  // for each budget: how many there are after a compute
  bool refuses_halves = true;       // of a model's bytes
};
inline void PrintTo(const Framework& framework, std::ostream* out) { *out << framework.name; }

std::vector<Framework> Frameworks();

}  // namespace wasinn::test
