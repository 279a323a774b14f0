// TorchScript models written by hand: what PyTorch itself would not write, and without it.
#pragma once

#include <string>
#include <vector>

namespace wasinn::testing {

// The archive of an object: `code` is the text of its classes, `data` its pickle.
std::string TorchArchive(const std::string& code, const std::string& data);

// A module without attributes of its own whose method is "def forward(self, x)", of these lines: its code, its object and
// the archive of both.
std::string TorchCode(const std::vector<std::string>& lines);
std::string TorchObject();
std::string TorchForward(const std::vector<std::string>& lines);

}  // namespace wasinn::testing
