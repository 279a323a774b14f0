// The text of all metrics of a host.
#pragma once

#include <string>

namespace wasinn::core {

class Host;

std::string MetricsText(Host& host);

}  // namespace wasinn::core
