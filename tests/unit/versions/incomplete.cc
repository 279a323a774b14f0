// A library whose table lacks a function that every backend must have.
#include "version.h"

const wasinn_backend* wasinn_backend_query(uint16_t, uint16_t) {
  static const wasinn_backend table = [] {
    wasinn_backend incomplete = wasinn::testing::EchoAs("incomplete");
    incomplete.compute = nullptr;
    return incomplete;
  }();
  return &table;
}
