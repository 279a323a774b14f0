#include "backends/test_host.h"

#include "check/failures.h"
#include "support/test.h"
#include "support/this_build.h"

namespace wasinn::test {
namespace {

std::string WithLibrary(const std::string& config) {
  const char* library = std::getenv("WASINN_TEST_LIBRARY");
  return library == nullptr || config != "{}" ? config : "{\"library\": \"" + std::string(library) + "\"}";
}

const bool is_set = [] {
  OnFailure([](const char* file, int line, const std::string& text) { ADD_FAILURE_AT(file, line) << text; });
  return true;
}();

}  // namespace

Host::Host(const std::string& config, uint32_t threads, const std::string& backend)
    : check::Host(WithLibrary(config), threads, backend) {}

std::string ModelPath(const std::string& name) { return testing::InSources(std::string(kModels) + "/" + name); }
std::string ModelBytes(const std::string& name) { return ReadFile(ModelPath(name)); }

}  // namespace wasinn::test
