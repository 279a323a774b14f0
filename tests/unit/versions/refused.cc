// Libraries that serve no host of this version, each in a way of its own, which its name says.
#include "version.h"

#ifdef REFUSED_unwilling
const wasinn_backend* wasinn_backend_query(uint16_t, uint16_t) { return nullptr; }
#elif !defined REFUSED_mute
const wasinn_backend* wasinn_backend_query(uint16_t, uint16_t) {
  static const wasinn_backend table = [] {
#ifdef REFUSED_another
    wasinn_backend refused = wasinn::testing::EchoAs("another");
    refused.abi_major = WASINN_BACKEND_ABI_MAJOR + 1;
#else
    wasinn_backend refused = wasinn::testing::EchoAs("incomplete");
    refused.compute = nullptr;
#endif
    return refused;
  }();
  return &table;
}
#endif
