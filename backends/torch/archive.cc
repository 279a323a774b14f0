#include "torch/archive.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <string_view>

#include "common/error.h"
#include "torch/pickle_scan.h"

namespace wasinn::torch {

using backend::Error;

namespace {

constexpr uint32_t kEndSignature = 0x06054b50, kEnd64Signature = 0x06064b50, kLocator64Signature = 0x07064b50;
constexpr uint32_t kEntrySignature = 0x02014b50, kLocalSignature = 0x04034b50;
constexpr uint16_t kLongestName = 255;
constexpr uint64_t kEndSize = 22, kEnd64Size = 56, kLocator64Size = 20, kEntrySize = 46, kLocalSize = 30;

[[noreturn]] void Broken(std::string_view what) {
  throw Error(WASINN_INVALID_ENCODING, fmt::format("these bytes are no TorchScript model: {}", what));
}

// Little-endian numbers at a checked place.
class Bytes {
 public:
  explicit Bytes(std::span<const uint8_t> bytes) : bytes_(bytes) {}

  uint64_t size() const { return bytes_.size(); }
  std::span<const uint8_t> At(uint64_t offset, uint64_t size) const {
    if (offset > bytes_.size() || size > bytes_.size() - offset) Broken("the archive is truncated");
    return bytes_.subspan(offset, size);
  }
  template <typename T>
  T Number(uint64_t offset) const {
    T value;
    std::memcpy(&value, At(offset, sizeof(T)).data(), sizeof(T));
    return value;
  }

 private:
  std::span<const uint8_t> bytes_;
};

struct Directory {
  uint64_t offset = 0, size = 0, count = 0;
};

// All must lie as PyTorch's writer lays it, without gaps or comments: another reader then finds the same entries.
Directory FindDirectory(const Bytes& bytes) {
  if (bytes.size() < kEndSize) Broken("too few bytes for an archive");
  const uint64_t end = bytes.size() - kEndSize;
  if (bytes.Number<uint32_t>(end) != kEndSignature) Broken("there is no end of a zip archive where it should be");
  Directory directory = {.offset = bytes.Number<uint32_t>(end + 16),
                         .size = bytes.Number<uint32_t>(end + 12),
                         .count = bytes.Number<uint16_t>(end + 10)};
  uint64_t end_of_directory = end;
  if (end >= kLocator64Size + kEnd64Size && bytes.Number<uint32_t>(end - kLocator64Size) == kLocator64Signature) {
    const uint64_t end64 = end - kLocator64Size - kEnd64Size;
    if (bytes.Number<uint64_t>(end - kLocator64Size + 8) != end64 || bytes.Number<uint32_t>(end64) != kEnd64Signature) {
      Broken("the end of the zip archive is not as PyTorch writes it");
    }
    directory = {.offset = bytes.Number<uint64_t>(end64 + 48),
                 .size = bytes.Number<uint64_t>(end64 + 40),
                 .count = bytes.Number<uint64_t>(end64 + 32)};
    end_of_directory = end64;
  }
  if (directory.size > end_of_directory || directory.offset != end_of_directory - directory.size) {
    Broken("the directory of the archive is not where it should be");
  }
  return directory;
}

// Sizes and offsets that do not fit into 32 bits, in their order.
void ReadExtra(const Bytes& extra, std::span<uint64_t* const> wide) {
  constexpr uint16_t kZip64 = 1;
  for (uint64_t at = 0; at + 4 <= extra.size();) {
    const auto id = extra.Number<uint16_t>(at);
    const auto size = extra.Number<uint16_t>(at + 2);
    const Bytes field(extra.At(at + 4, size));
    uint64_t in_field = 0;
    for (uint64_t* value : wide) {
      if (id != kZip64 || *value != UINT32_MAX || in_field + 8 > field.size()) continue;
      *value = field.Number<uint64_t>(in_field);
      in_field += 8;
    }
    at += 4 + uint64_t{size};
  }
}

// How it was compressed, sizes after the data, names in UTF-8. Not: encrypted, patched.
void CheckFlags(uint16_t flags) {
  constexpr uint16_t kKnown = 0x0806 | 0x0008;
  if ((flags & ~kKnown) != 0) Broken("an entry is encrypted, or in another way unlike what PyTorch writes");
}

ArchiveEntry ReadEntry(const Bytes& bytes, uint64_t* at) {
  if (bytes.Number<uint32_t>(*at) != kEntrySignature) Broken("its directory has something else than entries");
  const auto method = bytes.Number<uint16_t>(*at + 10);
  CheckFlags(bytes.Number<uint16_t>(*at + 8));
  uint64_t packed = bytes.Number<uint32_t>(*at + 20), size = bytes.Number<uint32_t>(*at + 24),
           offset = bytes.Number<uint32_t>(*at + 42);
  const auto name_size = bytes.Number<uint16_t>(*at + 28), extra_size = bytes.Number<uint16_t>(*at + 30),
             comment_size = bytes.Number<uint16_t>(*at + 32);
  const auto name = bytes.At(*at + kEntrySize, name_size);
  // PyTorch's reader takes names for texts that end at a NUL, and cuts long ones.
  if (name_size > kLongestName || std::ranges::find(name, 0) != name.end())
    Broken("an entry's name is too long or binary");
  uint64_t* const wide[] = {&size, &packed, &offset};
  ReadExtra(Bytes(bytes.At(*at + kEntrySize + name_size, extra_size)), wide);
  *at += kEntrySize + name_size + extra_size + comment_size;
  ArchiveEntry entry = {
      .name = std::string(name.begin(), name.end()), .size = size, .stored = method == 0, .bytes = {}};
  if (bytes.Number<uint32_t>(offset) != kLocalSignature) Broken("an entry is not where its directory says");
  CheckFlags(bytes.Number<uint16_t>(offset + 6));
  const uint64_t data = offset + kLocalSize + bytes.Number<uint16_t>(offset + 26) + bytes.Number<uint16_t>(offset + 28);
  if (entry.stored && packed != size) Broken("an entry that is not compressed has two sizes");
  const auto content = bytes.At(data, packed);
  if (entry.stored) entry.bytes = content;
  return entry;
}

// "digits/data.pkl" → "data.pkl".
void StripFolder(std::vector<ArchiveEntry>* entries) {
  const size_t slash = entries->empty() ? std::string::npos : entries->front().name.find('/');
  if (slash == std::string::npos) Broken("its entries lie in no folder");
  const std::string folder = entries->front().name.substr(0, slash + 1);
  for (ArchiveEntry& entry : *entries) {
    if (!entry.name.starts_with(folder)) Broken("its entries lie in several folders");
    entry.name.erase(0, folder.size());
  }
}

bool Has(const std::vector<ArchiveEntry>& entries, std::string_view name) {
  return std::ranges::find(entries, name, &ArchiveEntry::name) != entries.end();
}

// PyTorch writes other things into archives of the same form.
void CheckKind(const std::vector<ArchiveEntry>& entries) {
  if (Has(entries, "data.pkl") && Has(entries, "constants.pkl")) return;
  const bool native = std::ranges::any_of(entries, [](const ArchiveEntry& entry) {
    return entry.name.ends_with(".so") || entry.name.find("aotinductor") != std::string::npos;
  });
  if (native) {
    throw Error(WASINN_UNSUPPORTED_OPERATION,
                "this is an AOTInductor package, which is native code: expected TorchScript (torch.jit.save)");
  }
  if (Has(entries, "archive_format") || Has(entries, "serialized_exported_program.json")) {
    throw Error(WASINN_UNSUPPORTED_OPERATION,
                "this is a package of torch.export, which only Python can load: expected TorchScript (torch.jit.save)");
  }
  if (Has(entries, "data.pkl")) {
    throw Error(WASINN_UNSUPPORTED_OPERATION,
                "this is what torch.save writes, tensors without code: expected TorchScript (torch.jit.save)");
  }
  Broken("it has no data.pkl and constants.pkl");
}

bool IsVersion(std::string_view text) {
  uint64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number >= kOldestVersion && number <= kNewestVersion;
}

// What PyTorch's reader reads while it is made.
void CheckOpening(std::span<const ArchiveEntry> entries) {
  bool found = false;
  for (const ArchiveEntry& entry : entries) {
    const std::string name = NameInLowerCase(entry.name);
    const bool version = name == "version" || name == ".data/version";
    if (!version && name != ".data/serialization_id") continue;
    if (entry.bytes.size() > kMostOfOpening) Broken(fmt::format("its {} is too long", name));
    if (version && !IsVersion({reinterpret_cast<const char*>(entry.bytes.data()), entry.bytes.size()})) {
      Broken("its version is none that this PyTorch reads");
    }
    found = found || version;
  }
  if (!found) Broken("it has no version");
}

}  // namespace

std::string NameInLowerCase(std::string_view name) {
  std::string lower(name);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

std::vector<ArchiveEntry> ReadArchive(std::span<const uint8_t> all) {
  const Bytes bytes(all);
  const Directory directory = FindDirectory(bytes);
  std::vector<ArchiveEntry> entries;
  uint64_t total = 0;
  uint64_t at = directory.offset;
  for (uint64_t i = 0; i < directory.count; ++i) {
    entries.push_back(ReadEntry(bytes, &at));
    if (entries.back().stored) total += entries.back().size;
    if (total > bytes.size()) Broken("its entries overlap");
  }
  if (at != directory.offset + directory.size) Broken("its directory has another size than it says");
  StripFolder(&entries);
  CheckKind(entries);
  return entries;
}

void CheckGuestArchive(std::span<const ArchiveEntry> entries, uint64_t most_code) {
  std::vector<std::string> names;
  uint64_t packed = 0;  // as large as it says it becomes
  for (const ArchiveEntry& entry : entries) {
    names.push_back(NameInLowerCase(entry.name));
    if (names.back().ends_with(".pkl")) {
      if (!entry.stored) throw Error(WASINN_SECURITY, fmt::format("'{}' is compressed: not loaded", entry.name));
      ScanPickle(entry.name, entry.bytes);
    }
    if (entry.stored) continue;
    if (!entry.name.starts_with("code/")) {
      throw Error(WASINN_SECURITY, fmt::format("'{}' is compressed, as only code is: not loaded", entry.name));
    }
    if (__builtin_add_overflow(packed, entry.size, &packed) || packed > most_code) {
      throw Error(WASINN_TOO_LARGE,
                  fmt::format("the code of the model takes more than the {} bytes that are allowed", most_code));
    }
  }
  std::ranges::sort(names);
  if (std::ranges::adjacent_find(names) != names.end()) Broken("it has two entries of one name");
  CheckOpening(entries);
}

}  // namespace wasinn::torch
