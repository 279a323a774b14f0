#include "support/this_build.h"

namespace wasinn::testing {

std::string InThisBuild(const std::string& path) { return std::string(TESTS_BUILD) + "/" + path; }

bool HasAddressSanitizer() {
#ifdef __SANITIZE_ADDRESS__
  return true;
#else
  return false;
#endif
}

}  // namespace wasinn::testing
