// A backend's own tests drive it through backend.h alone, as the core does, by what check/driver.h has.
#pragma once

#include <string>

#include "backends/driver_paths.h"
#include "check/driver.h"
#include "support/this_build.h"

namespace wasinn::test {

using namespace check;  // NOLINT(google-build-using-namespace): what tests say all the time

constexpr uint64_t kMebi = uint64_t{1} << 20;

class Host : public check::Host {
 public:
  // WASINN_TEST_LIBRARY names another version of the framework, to try it.
  explicit Host(const std::string& config = "{}", uint32_t threads = 1,
                const std::string& backend = testing::BackendFile(kFramework));
};

// A file of kModels.
std::string ModelPath(const std::string& name);
std::string ModelBytes(const std::string& name);

}  // namespace wasinn::test
