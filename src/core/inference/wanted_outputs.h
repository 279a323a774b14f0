// Which outputs of a compute a guest wants, and where.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace wasinn::core {

// Where a guest wants an output after each compute: addresses in its memory.
struct Destination {
  uint32_t index;
  uint32_t buffer;  // 0: nowhere, it is only produced
  uint32_t size;
  uint32_t written;  // where its size goes
};

class WantedOutputs {
 public:
  bool all() const { return wanted_.empty(); }
  bool Has(uint32_t index) const {
    return all() || std::ranges::binary_search(wanted_, index, {}, &Destination::index);
  }
  // By index; none: all.
  std::span<const Destination> destinations() const { return wanted_; }
  // As above, for a backend.
  std::span<const uint32_t> indices() const { return indices_; }

  void Add(const Destination& destination) {
    const auto place = std::ranges::lower_bound(wanted_, destination.index, {}, &Destination::index);
    if (place != wanted_.end() && place->index == destination.index) {
      *place = destination;
      return;
    }
    std::vector<Destination> wanted = wanted_;
    wanted.insert(wanted.begin() + (place - wanted_.begin()), destination);
    Set(std::move(wanted));
  }
  // Replaces earlier choices, without destinations.
  void Select(std::span<const uint32_t> given) {
    std::vector<Destination> wanted;
    for (uint32_t index : given) wanted.push_back({index, 0, 0, 0});
    std::ranges::sort(wanted, {}, &Destination::index);
    const auto [end, last] = std::ranges::unique(wanted, {}, &Destination::index);
    wanted.erase(end, last);
    Set(std::move(wanted));
  }

 private:
  // Changes both or none, even without memory.
  void Set(std::vector<Destination> wanted) {
    std::vector<uint32_t> indices;
    indices.reserve(wanted.size());
    for (const Destination& one : wanted) indices.push_back(one.index);
    wanted_ = std::move(wanted);
    indices_ = std::move(indices);
  }

  std::vector<Destination> wanted_;
  std::vector<uint32_t> indices_;
};

}  // namespace wasinn::core
