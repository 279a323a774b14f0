// A file of the host's beside a model's own: a projector, a draft, an adapter.
#pragma once

#include <string>

namespace wasinn::llama {

// Why it cannot be opened, by errno: in a worker none can, whatever its permissions are.
std::string WhyNotOpened(int error);

// Throws WASINN_ERROR_INVALID_ARGUMENT for one that cannot be opened. `key`: what names it in the configuration. llama.cpp itself
// says no more than that it failed.
void RequireOtherFile(const std::string& key, const std::string& path);

}  // namespace wasinn::llama
