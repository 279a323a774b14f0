// How a program of ours is started beside a host's own threads, children and signal handlers.
#pragma once

#include <string>

#include "core/isolation/socket.h"
#include "core/status.h"

namespace wasinn::isolation {

// Starts a program, at an absolute path, that gets `socket` as its third descriptor, no other of ours, `/` as its
// folder and little of our environment: with `has_devices` also what names devices and their drivers. It forks and goes
// on as nobody's child, so that no one here is told of its end.
core::Status StartProgram(const std::string& path, bool has_devices, const Socket& socket);

}  // namespace wasinn::isolation
