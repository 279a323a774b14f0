// Models in which bits are flipped.
#pragma once

#include "hostile/isolated_host.h"
#include "support/test.h"

namespace wasinn::testing {

struct Flippable {
  std::string name;
  uint32_t encoding;
  // The bytes whose bits are flipped: the parts, or their sources.
  std::vector<std::string> sources;
  std::vector<Input> inputs;
  // In the first source: so many bytes at its begin and end are structure, rather than weights; 0 and 0: all of it.
  size_t head = 0, tail = 0;
  // NULL: the sources are the parts.
  std::vector<std::string> (*assemble)(const std::vector<std::string>& sources) = nullptr;
};

// A small one of each format.
std::vector<Flippable> FlippableModels();

Brought Unchanged(const Flippable& model);
// One to eight bits flipped, most of them in what is structure. The same numbers, the same bits.
Brought Flip(const Flippable& model, uint64_t seed, uint64_t variant);

}  // namespace wasinn::testing
