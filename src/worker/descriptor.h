#pragma once

#include "base/descriptor.h"

namespace wasinn::worker {
using base::Descriptor;
}
