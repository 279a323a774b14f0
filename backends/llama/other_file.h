// A file of the host next to a model's own: a projector, a draft, an adapter.
#pragma once

#include <string>

namespace wasinn::llama {

// The reason by errno: a worker can open none, whatever the permissions.
std::string WhyNotOpened(int error);

// Throws WASINN_ERROR_INVALID_ARGUMENT if it cannot be opened. `key`: its configuration key. llama.cpp only reports
// that it failed.
void RequireOtherFile(const std::string& key, const std::string& path);

}  // namespace wasinn::llama
