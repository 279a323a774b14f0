// Reads the binary format: numbers, names and sections, from untrusted bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace wasinn::engines {

inline constexpr size_t kHeader = 8;  // of a module or a component
inline constexpr uint8_t kImports = 2, kFunctions = 3, kTables = 4, kMemories = 5, kGlobals = 6, kExports = 7,
                         kStart = 8;  // sections of a module

// Reads from the beginning of bytes, until a read fails.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}
  bool ok() const { return ok_; }
  bool more() const { return ok_ && !rest_.empty(); }
  std::string_view rest() const { return rest_; }

  uint8_t Byte() {
    const std::string_view byte = Bytes(1);
    return ok_ ? static_cast<uint8_t>(byte[0]) : uint8_t{0};
  }
  // LEB128, of at most 64 bits.
  uint64_t Number() {
    uint64_t number = 0;
    for (unsigned shift = 0; shift < 64 && ok_; shift += 7) {
      const uint8_t byte = Byte();
      number |= uint64_t{byte & 0x7fu} << shift;
      if ((byte & 0x80) == 0) return number;
    }
    ok_ = false;
    return 0;
  }
  std::string_view Bytes(uint64_t size) {
    ok_ = ok_ && size <= rest_.size();
    if (!ok_) return {};
    const std::string_view bytes = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return bytes;
  }
  std::string_view Name() { return Bytes(Number()); }

 private:
  std::string_view rest_;
  bool ok_ = true;
};

struct Section {
  uint8_t id;
  std::string_view whole, body;
};

inline Section NextSection(Reader& reader) {
  const std::string_view from = reader.rest();
  Section section = {reader.Byte(), {}, {}};
  section.body = reader.Bytes(reader.Number());
  section.whole = from.substr(0, from.size() - reader.rest().size());
  return section;
}

}  // namespace wasinn::engines
