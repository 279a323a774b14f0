// A model's signature as JSON, for guests and people.
#pragma once

#include <string>

#include "core/models/graph.h"

namespace wasinn::core {

// A JSON object, as documented in guest/wit/deps/wasinn-ext/ext.wit. UTF-8, whatever the model's names are.
std::string DescribeAsJson(const Graph& graph);

}  // namespace wasinn::core
