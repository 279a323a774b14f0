// The flag --shape of commands that make inputs.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "settings/model_flags.h"

namespace wasinn::settings {

// By the names of inputs.
using Shapes = std::map<std::string, std::vector<int64_t>>;

// NAME=1x3x8x8; NAME= is a scalar.
Parsed<Shapes::value_type> ParseShape(const std::string& text);

}  // namespace wasinn::settings
