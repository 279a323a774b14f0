// Models of TensorFlow Lite that end or stop who computes them.
#pragma once

#include <string>

namespace wasinn::testing {

// x, added to itself for as long as it is what it is.
std::string EndlessTfLite();

}  // namespace wasinn::testing
