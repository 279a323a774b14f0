// Facts about a request besides the question and the answer. The code that answers it fills this.
#pragma once

#include <string>

#include "serve/metrics/trace.h"

namespace wasinn::serve {

struct About {
  std::string model, tenant;  // "": none
  Trace trace;
};

}  // namespace wasinn::serve
