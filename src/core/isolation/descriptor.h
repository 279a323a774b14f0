#pragma once

#include "base/descriptor.h"

namespace wasinn::isolation {
using base::Descriptor;
}
