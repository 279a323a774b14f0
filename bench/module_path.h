// Libraries of wasinn bench that are in the folder of the backends.
#pragma once

#include <string>

namespace wasinn::bench {

// The path of a file in the folder wasinn next to libwasinn; empty if there is none.
std::string PathBesideBackends(const char* file);

}  // namespace wasinn::bench
