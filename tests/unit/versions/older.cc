// A library of a version that knew no function which is optional today. Behind its table the OS process has no memory.
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "version.h"

namespace {

const wasinn_backend* Make() {
  constexpr size_t kSize = offsetof(wasinn_backend, cancel);
  const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  void* pages = ::mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED || ::mprotect(static_cast<uint8_t*>(pages) + page, page, PROT_NONE) != 0) return nullptr;
  uint8_t* place = static_cast<uint8_t*>(pages) + page - kSize;
  wasinn_backend table = wasinn::testing::EchoAs("older");
  table.struct_size = kSize;
  std::memcpy(place, &table, kSize);
  return reinterpret_cast<const wasinn_backend*>(place);
}

}  // namespace

const wasinn_backend* wasinn_backend_query(uint16_t, uint16_t) {
  static const wasinn_backend* const table = Make();
  return table;
}
