// Starts wasinn's own programs without disturbing a host's threads, children and signal handlers.
#pragma once

#include <string>

#include "core/isolation/socket.h"
#include "core/status.h"

namespace wasinn::isolation {

// Starts a program, at an absolute path. It gets `socket` as its third descriptor and no other one, `/` as its folder,
// and little of the environment: with `has_devices` also the variables that name devices and their drivers. It forks
// and becomes nobody's child, so that no code here gets notice of its end.
core::Status StartProgram(const std::string& path, bool has_devices, const Socket& socket);

}  // namespace wasinn::isolation
