// A model's signature for guests and people who want to know it.
#pragma once

#include <string>

#include "core/models/graph.h"

namespace wasinn::core {

// A JSON object, as guest/wit/deps/wasinn-ext/ext.wit documents it. UTF-8, whatever the model's names are.
std::string DescribeAsJson(const Graph& graph);

}  // namespace wasinn::core
