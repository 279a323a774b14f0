// The archive that a TorchScript model is: a zip file.
#ifndef WASINN_BACKENDS_TORCH_ARCHIVE_H_
#define WASINN_BACKENDS_TORCH_ARCHIVE_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace wasinn::torch {

struct ArchiveEntry {
  std::string name;                // without the folder that all entries lie in
  uint64_t size = 0;               // uncompressed
  bool stored = false;             // not compressed
  std::span<const uint8_t> bytes;  // of a stored one
};

// The entries of a TorchScript archive. Throws WASINN_INVALID_ENCODING for bytes that are no such archive, that are
// broken, or whose entries overlap; WASINN_UNSUPPORTED_OPERATION for PyTorch's other archives (torch.save,
// torch.export, AOTInductor).
std::vector<ArchiveEntry> ReadArchive(std::span<const uint8_t> bytes);

// What wasinn asks of an archive from a guest: nothing compressed but code, that no more than `most_code` bytes of it,
// and pickles as ScanPickle wants them. What is left to check is the code (ScanCode).
void CheckGuestArchive(std::span<const ArchiveEntry> entries, uint64_t most_code);

}  // namespace wasinn::torch

#endif  // WASINN_BACKENDS_TORCH_ARCHIVE_H_
