#include "support/this_build.h"

#include <errno.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>

namespace wasinn::testing {
namespace {

namespace fs = std::filesystem;

// The build that this program is in: the folder above bin/. (Another program may run it: ld.so.)
const fs::path& OwnBuild() {
  static const fs::path build = fs::canonical(program_invocation_name).parent_path().parent_path();
  return build;
}

const char* OtherBuild() { return std::getenv("WASINN_TESTED_BUILD"); }

}  // namespace

std::string InTestsBuild(const std::string& path) { return (OwnBuild() / path).lexically_normal().string(); }

std::string InSources(const std::string& path) { return InTestsBuild(TESTS_SOURCES "/" + path); }

std::string InThisBuild(const std::string& path) {
  const char* other = OtherBuild();
  return other != nullptr ? std::string(other) + "/" + path : InTestsBuild(path);
}

std::string GuestFile(const std::string& name) { return InTestsBuild(TESTS_GUESTS "/" + name + ".wasm"); }

std::string BackendFile(const std::string& framework) {
  std::string folder = "wasinn";
  if (framework == "echo") folder = "wasinn-test";
  if (framework == "template") folder = "wasinn-template";
  return InThisBuild("lib/" + folder + "/libwasinn_backend_" + framework + ".so");
}

std::string FrameworkFile(const std::string& framework) {
  std::istringstream words(TESTS_FRAMEWORKS);
  for (std::string name, path; words >> name >> path;) {
    if (name == framework) return InTestsBuild(path);
  }
  return "";
}

std::string EchoFolder() { return InThisBuild("lib/wasinn-test"); }
std::string WorkerFile() { return InThisBuild("lib/wasinn/wasinn-worker"); }

bool Has(const std::string& framework) {
  return !FrameworkFile(framework).empty() && fs::exists(BackendFile(framework));
}

bool HasGuest(const std::string& name) { return fs::exists(GuestFile(name)); }

bool HasAddressSanitizer() {
#ifdef __SANITIZE_ADDRESS__
  return true;
#else
  return OtherBuild() != nullptr;
#endif
}

}  // namespace wasinn::testing
