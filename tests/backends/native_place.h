// The place of a framework that is called directly, and its device: the build's own library and the CPU, unless
// variables say otherwise (WASINN_TEST_LIBRARY as in test_host.h).
#pragma once

#include <cstdlib>
#include <string>

#include "support/this_build.h"

namespace wasinn::test {

inline std::string NativeLibrary(const char* framework) {
  const char* other = std::getenv("WASINN_TEST_LIBRARY");
  return other != nullptr ? other : testing::FrameworkFile(framework);
}

inline bool NativeOnGpu() { return std::getenv("WASINN_TEST_ON_GPU") != nullptr; }

}  // namespace wasinn::test
