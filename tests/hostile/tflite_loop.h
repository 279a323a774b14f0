// A model of TensorFlow Lite that never ends.
#pragma once

#include <string>

namespace wasinn::testing {

// x, added to itself for as long as it is what it is.
std::string EndlessTfLite();

}  // namespace wasinn::testing
