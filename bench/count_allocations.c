// Counts the allocations of each thread. `wasinn bench` runs itself again with this library preloaded, so that all
// allocations of wasinn, of the framework and of the engine pass through it.
//
// glibc also exports its allocator under these names, so nothing has to be looked up, which would itself allocate.
#include <errno.h>
#include <stddef.h>
#include <stdint.h>

#define EXPORT __attribute__((visibility("default")))

// NOLINTBEGIN(bugprone-reserved-identifier): glibc's
void* __libc_malloc(size_t size);
void* __libc_calloc(size_t count, size_t size);
void* __libc_realloc(void* block, size_t size);
void* __libc_memalign(size_t alignment, size_t size);
// NOLINTEND(bugprone-reserved-identifier)

// A preloaded library can use the fast kind of thread-local memory; the other kind is allocated at first use.
static __thread uint64_t allocations __attribute__((tls_model("initial-exec")));

// The allocations of the calling thread since it began.
EXPORT uint64_t wasinn_count_allocations(void);
uint64_t wasinn_count_allocations(void) { return allocations; }

EXPORT void* malloc(size_t size) {
  ++allocations;
  return __libc_malloc(size);
}

EXPORT void* calloc(size_t count, size_t size) {
  ++allocations;
  return __libc_calloc(count, size);
}

EXPORT void* realloc(void* block, size_t size) {
  ++allocations;
  return __libc_realloc(block, size);
}

EXPORT void* memalign(size_t alignment, size_t size);
void* memalign(size_t alignment, size_t size) {
  ++allocations;
  return __libc_memalign(alignment, size);
}

EXPORT void* aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }

EXPORT int posix_memalign(void** block, size_t alignment, size_t size);
int posix_memalign(void** block, size_t alignment, size_t size) {
  if (alignment < sizeof(void*) || (alignment & (alignment - 1)) != 0) return EINVAL;
  void* made = memalign(alignment, size);
  if (made == NULL) return ENOMEM;
  *block = made;
  return 0;
}
