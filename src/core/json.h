#pragma once

#include "base/json.h"

namespace wasinn::core {
using base::ParseJson;
using base::Quoted;
}  // namespace wasinn::core
