// Extends a worker's sandbox if the worker may use this machine's GPUs, so that their drivers work in it.
#pragma once

#include <istream>
#include <string>
#include <vector>

#include "worker/sandbox_options.h"

namespace wasinn::worker {

// Adds existing files of devices and drivers to a framework's sandbox, and lifts limits that stop drivers. `libraries`
// are the framework's folders, including late libraries'. The system calls: AllowDevices in system_calls.cc.
void AddDevices(SandboxOptions& options, const std::vector<std::string>& libraries);

// The files in /dev/nvidia-caps through which parts of a divided GPU compute, by NVIDIA's list of their purposes: other
// files change how a GPU is divided, and root may open these, too.
std::vector<std::string> PartsOfGpus(std::istream& minors);

// The descriptions of Vulkan drivers that these variables of the environment name, each with its library.
std::vector<std::string> NamedVulkanDrivers();

}  // namespace wasinn::worker
