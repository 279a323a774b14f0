// Backends of other versions than this one's, made of echo: each library is echo under another name, with another
// table.
#pragma once

#include <wasinn/backend.h>

// wasinn_backend_query of echo.cc, which is compiled under this name here.
extern "C" const wasinn_backend* EchoQuery(uint16_t host_abi_major, uint16_t host_abi_minor);

namespace wasinn::testing {

constexpr wasinn_format kFormat = {.struct_size = sizeof(wasinn_format), .name = "tensorflow"};
constexpr const wasinn_format* kFormats[] = {&kFormat};

inline wasinn_backend EchoAs(const char* name) {
  wasinn_backend table = *EchoQuery(WASINN_BACKEND_ABI_MAJOR, WASINN_BACKEND_ABI_MINOR);
  table.name = name;
  table.formats = kFormats;
  table.n_formats = 1;
  return table;
}

}  // namespace wasinn::testing
