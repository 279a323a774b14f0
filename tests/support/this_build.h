// The places of files for tests: those of the sources, and those of the build under test.
#pragma once

#include <string>
#include <vector>

namespace wasinn::testing {

// The whole path of a file or folder: of the sources, whose ".deps" scripts/deps.sh fills; of the build that this test program is in; and of
// the build under test, which is the same one, unless WASINN_TESTED_BUILD names another, which has AddressSanitizer. They are found from
// where the program is: no compiled file has a path of the machine, so a compiler cache serves every checkout.
std::string InSources(const std::string& path);
std::string InTestsBuild(const std::string& path);
std::string InThisBuild(const std::string& path);

std::string GuestFile(const std::string& name);           // the guest program NAME.wasm
std::string BackendFile(const std::string& framework);    // the library of a backend: "onnx", "echo" …
std::string FrameworkFile(const std::string& framework);  // the framework's own library, which that backend opens
std::string EchoFolder();                                 // the folder of backend_dirs that has the echo backend alone
std::string WorkerFile();                                 // the program wasinn-worker

// Whether the build has a backend for this framework, and this guest program.
bool Has(const std::string& framework);
bool HasGuest(const std::string& name);

// Those of `all` whose framework the build has: Built(kFormats, &Format::framework).
template <typename Range, typename T, typename Name>
std::vector<T> Built(const Range& all, Name T::* framework) {
  std::vector<T> built;
  for (const T& one : all) {
    if (Has(one.*framework)) built.push_back(one);
  }
  return built;
}

// Whether the code under test has AddressSanitizer's checks, or runs in an emulator: it is slower then, and these take memory.
bool HasAddressSanitizer();

}  // namespace wasinn::testing
