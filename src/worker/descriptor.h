// A file descriptor, by the word of this folder.
#pragma once

#include "core/isolation/descriptor.h"

namespace wasinn::worker {

using isolation::Descriptor;

}  // namespace wasinn::worker
