// What is known of a request beside what was asked and answered. Whoever answers it fills it.
#pragma once

#include <string>

#include "serve/metrics/trace.h"

namespace wasinn::serve {

struct About {
  std::string model, tenant;  // "": none
  Trace trace;
};

}  // namespace wasinn::serve
