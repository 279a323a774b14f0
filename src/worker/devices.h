// What a worker may do beyond its sandbox's usual limits if it may use this machine's GPUs, so that their drivers work there.
#pragma once

#include <istream>
#include <string>
#include <vector>

#include "worker/sandbox_options.h"

namespace wasinn::worker {

// Adds to a framework's sandbox the files that there are of devices and drivers, and lets go of what drivers cannot keep. `libraries` are
// folders where the framework lies, and what it opens late. What the sandbox then lets through: AllowDevices in system_calls.cc.
void AddDevices(SandboxOptions& options, const std::vector<std::string>& libraries);

// The files in /dev/nvidia-caps through which parts of a divided GPU compute, by NVIDIA's list of what each is for: others change how a GPU
// is divided, and root may open these, too.
std::vector<std::string> PartsOfGpus(std::istream& minors);

// The descriptions of Vulkan drivers that these variables of the environment name, each with the library that it names.
std::vector<std::string> NamedVulkanDrivers();

}  // namespace wasinn::worker
