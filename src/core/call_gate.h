#pragma once

#include "base/call_gate.h"

namespace wasinn::core {
using base::CallGate;
}
