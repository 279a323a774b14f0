// Libraries of wasinn bench that lie where the backends do.
#pragma once

#include <string>

namespace wasinn::bench {

// The path of a file in the folder wasinn beside libwasinn; empty where there is none.
std::string PathBesideBackends(const char* file);

}  // namespace wasinn::bench
