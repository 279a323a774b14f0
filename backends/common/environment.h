// What a framework can be told by the environment only.
#pragma once

#include <cstdlib>

namespace wasinn::backend {

// Before the framework's library is opened, which reads it then. Where the environment has the variable already, the
// operator's word counts, and nothing is written. Else this is the one moment at which another thread of the program
// must not be reading the environment (backend.h): glibc has no lock that both take.
inline void TellFramework(const char* variable, const char* value) {
  if (std::getenv(variable) == nullptr) setenv(variable, value, 0);
}

}  // namespace wasinn::backend
