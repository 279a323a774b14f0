// The backends of this build, each with a model that makes its framework work.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <ostream>
#include <string>
#include <vector>

namespace wasinn::test {

// A variant of a model's inputs: the contract's checks have the three before.
inline constexpr int kOwnVariant = 3;

struct Model {
  std::vector<std::string> parts;                      // files
  std::string format;                                  // as the backend's table has it
  std::map<std::string, std::vector<int64_t>> shapes;  // of inputs that leave them open
  std::string config = "{}";
  // Inputs that are texts, of several computes: those of the contract, and one (kOwnVariant). Else they are made of small numbers.
  std::vector<std::vector<std::string>> texts;
};

struct Framework {
  std::string name;     // of the backend
  std::string backend;  // the library
  // The model that is computed before the sandbox is sealed, and a guest's model afterwards: with other kernels.
  Model warm_up, model;
  // How many threads there are when it is open, and after the warm-up: with a budget of 1 thread and of 2, on two processors.
  std::array<uint64_t, 2> threads_open = {1, 1}, threads = {1, 1};
  // Opened in one process, it computes in another that is forked from that.
  bool forks = true;
};
inline void PrintTo(const Framework& framework, std::ostream* out) { *out << framework.name; }

std::vector<Framework> Frameworks();

}  // namespace wasinn::test
