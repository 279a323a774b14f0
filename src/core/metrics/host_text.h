// All that a host counts, as one text.
#pragma once

#include <string>

namespace wasinn::core {

class Host;

std::string MetricsText(Host& host);

}  // namespace wasinn::core
