#include "engines/any/plain_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include "support/test.h"

namespace wasinn::testing {
namespace {

constexpr uint64_t kBefore = uint64_t{4} << 30, kBehind = uint64_t{8} << 30;
constexpr uint8_t kSlack = 0xa5;

uint64_t PageSize() { return static_cast<uint64_t>(::sysconf(_SC_PAGESIZE)); }
uint64_t WholePages(uint64_t size) { return (size + PageSize() - 1) / PageSize() * PageSize(); }

uint8_t* Reserve(uint64_t size) {
  void* mapping = ::mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  EXPECT_NE(mapping, MAP_FAILED) << std::strerror(errno);
  return static_cast<uint8_t*>(mapping);
}

void Open(uint8_t* begin, uint64_t size) {
  EXPECT_EQ(::mprotect(begin, size, PROT_READ | PROT_WRITE), 0) << std::strerror(errno);
}

}  // namespace

PlainMemory::PlainMemory(uint64_t size) : size_(size) {
  const uint64_t whole = WholePages(size);
  mapping_ = Reserve(kBefore + whole + kBehind);
  pages_ = mapping_ + kBefore;
  if (whole > 0) Open(pages_, whole);
  base_ = pages_ + (whole - size);
  std::fill(pages_, base_, kSlack);
}

PlainMemory::~PlainMemory() { ::munmap(mapping_, kBefore + WholePages(size_) + kBehind); }

bool PlainMemory::SlackIsIntact() const {
  return std::all_of(pages_, base_, [](uint8_t byte) { return byte == kSlack; });
}

GrowingMemory::GrowingMemory(size_t max_pages) : max_size_(max_pages * kPage) { base_ = Reserve(max_size_ + kBehind); }
GrowingMemory::~GrowingMemory() { ::munmap(base_, max_size_ + kBehind); }

void GrowingMemory::Grow(size_t pages) { Open(base_, std::min(pages * kPage, max_size_)); }

}  // namespace wasinn::testing
