// How TensorFlow's library is opened: its own symbols come before the program's, unless the program allocates memory in its own way.
#include <dlfcn.h>

#include <locale>
#include <new>

#include "common/library.h"
#include "opens/own_symbols.h"
#include "support/test.h"
#include "support/this_build.h"

int wasinn_test_own_symbol() { return 2; }  // exported, as that of a library that the program is linked with

#ifdef WITH_ALLOCATOR
void* operator new(size_t size) { return std::malloc(size); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
#endif

#if defined(WITH_ALLOCATOR) || defined(__SANITIZE_ADDRESS__)
constexpr bool kOwnFirst = false;
#else
constexpr bool kOwnFirst = true;
#endif

namespace wasinn::backend {
namespace {

template <typename Function>
Function* Find(const char* name) {
  static void* const library =
      OpenLibrary(testing::InThisBuild("tests/opens/libown_symbols_library.so").c_str(), OwnSymbolsFirst());
  EXPECT_NE(library, nullptr) << dlerror();
  return reinterpret_cast<Function*>(dlsym(library, name));
}

TEST(OwnSymbols, ComeFirst) {
  EXPECT_EQ((OwnSymbolsFirst() & RTLD_DEEPBIND) != 0, kOwnFirst);
  EXPECT_EQ(Find<int()>("wasinn_test_answer")(), kOwnFirst ? 1 : 2);
}

// This program names std::cerr, and so has a copy of it.
TEST(OwnSymbols, LibrariesMayWriteToStreams) {
  std::cerr << "from the program" << std::endl;
  ::testing::internal::CaptureStderr();
  Find<void(const char*)>("wasinn_test_write")("from the library");
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "from the library\n");
}

// It names the number of a facet, too.
TEST(OwnSymbols, LibrariesFindFacets) {
  EXPECT_EQ(Find<size_t()>("wasinn_test_facet")(), std::ctype<char>::id._M_id());
}

}  // namespace
}  // namespace wasinn::backend
