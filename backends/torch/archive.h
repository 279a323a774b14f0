// The archive that a TorchScript model is: a zip file.
#ifndef WASINN_BACKENDS_TORCH_ARCHIVE_H_
#define WASINN_BACKENDS_TORCH_ARCHIVE_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
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

// The most bytes of an entry that PyTorch's reader reads while it is made: a version, an identity. A reader that throws
// there leaks the directory of its archive, so nothing may end it there.
inline constexpr uint64_t kMostOfOpening = 64;

// Versions of archives that PyTorch reads.
inline constexpr uint64_t kOldestVersion = 1, kNewestVersion = 10;

// What wasinn asks of an archive from a guest: nothing compressed but code, that no more than `most_code` bytes of it,
// pickles as ScanPickle wants them, a version that PyTorch reads, and names that differ in more than their case. What is
// left to check is the code (ScanCode).
void CheckGuestArchive(std::span<const ArchiveEntry> entries, uint64_t most_code);

// As PyTorch's reader compares names of entries: in any case of ASCII letters.
std::string NameInLowerCase(std::string_view name);

}  // namespace wasinn::torch

#endif  // WASINN_BACKENDS_TORCH_ARCHIVE_H_
