// What differs between the builds that a test is linked in: its objects may be those of another one (cmake/CompiledElsewhere.cmake).
#pragma once

#include <string>

namespace wasinn::testing {

// The whole path of a file of this build.
std::string InThisBuild(const std::string& path);
// Whether what is tested has its checks: then it is slower, and there is much memory of the sanitizer's own.
bool HasAddressSanitizer();

}  // namespace wasinn::testing
