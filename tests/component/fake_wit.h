// A wasinn_wit() for tests of an engine: keeps what it is given, counts, and fails when it is told to. Linked into a
// program it comes before the library's.
#pragma once

#include <wasinn/wit.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace wasinn::testing {

struct FakeTensor {
  std::vector<uint32_t> dims;
  uint32_t type = 0;
  std::vector<uint8_t> data;  // left out above kKept bytes
  size_t size = 0;
};
inline constexpr size_t kKept = 64 << 20;

// Its reps are 1, 2, 3 …, whatever they stand for. Any model loads, computes its inputs as its outputs, and keeps the
// last.
struct FakeWit {
  std::map<uint32_t, FakeTensor> tensors;
  std::map<uint32_t, std::string> errors;
  std::map<uint32_t, uint32_t> others;  // graphs and contexts; a context's value is the tensor of set-input
  std::vector<std::string> builders;    // of the last load; or the name
  uint32_t encoding = 0, target = 0, code = 0;
  std::vector<std::string> names;  // of the last inputs
  wasinn_guest* guest = nullptr;
  int views = 0;           // not released
  int released = 0;        // views
  int dropped = 0;         // reps, by a destructor
  uint32_t next = 1;       // rep
  std::string trap;        // the next call gives this as its status
  std::string error;       // the next call that can gives this as its WIT error
  int begun = 0;           // calls by another thread
  bool no_thread = false;  // for the next one: the system gives none
  wasinn_wit_limits limits = {sizeof(wasinn_wit_limits), 0, 0};
};
extern FakeWit fake;

// Guests that are told apart by their address.
wasinn_guest* FakeGuest(int number);

}  // namespace wasinn::testing
