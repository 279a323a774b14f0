#include "hostile/torch_archive.h"

#include <cstdint>
#include <utility>

namespace wasinn::testing {
namespace {

using Entry = std::pair<std::string, std::string>;

std::string Number(uint64_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text += static_cast<char>(value >> (8 * i));
  return text;
}

uint32_t Checksum(const std::string& bytes) {
  uint32_t sum = ~0u;
  for (const char c : bytes) {
    sum ^= static_cast<uint8_t>(c);
    for (int bit = 0; bit < 8; ++bit) sum = sum >> 1 ^ ((sum & 1) != 0 ? 0xedb88320u : 0);
  }
  return ~sum;
}

// A zip archive without compression.
std::string Zip(const std::vector<Entry>& entries) {
  std::string archive, directory;
  for (const auto& [name, content] : entries) {
    const std::string flags = Number(0, 2), stored = Number(0, 2), time = Number(0, 4), none = Number(0, 2);
    const std::string head = flags + stored + time + Number(Checksum(content), 4) + Number(content.size(), 4) +
                             Number(content.size(), 4) + Number(name.size(), 2) + none;
    directory += "PK\1\2" + Number(20, 2) + Number(20, 2) + head + none + none + none + Number(0, 4) +
                 Number(archive.size(), 4) + name;
    archive += "PK\3\4" + Number(20, 2) + head + name + content;
  }
  const std::string count = Number(entries.size(), 2);
  return archive + directory + "PK\5\6" + Number(0, 4) + count + count + Number(directory.size(), 4) +
         Number(archive.size(), 4) + Number(0, 2);
}

}  // namespace

std::string TorchArchive(const std::string& code, const std::string& data) {
  return Zip({{"model/data.pkl", data},
              {"model/code/__torch__.py", code},
              {"model/constants.pkl", "\x80\x02)."},
              {"model/version", "3\n"},
              {"model/byteorder", "little"}});
}

std::string TorchCode(const std::vector<std::string>& lines) {
  std::string code =
      "class Model(Module):\n  __parameters__ = []\n  __buffers__ = []\n  training : bool\n"
      "  def forward(self: __torch__.Model,\n    x: Tensor) -> Tensor:\n";
  for (const std::string& line : lines) code += "    " + line + "\n";
  return code;
}

std::string TorchObject() {
  // {"training": False}
  const std::string state = "}(X" + Number(8, 4) + "training\x89u";
  return "\x80\x02"
         "c__torch__\nModel\n)\x81" +
         state + "b.";
}

std::string TorchForward(const std::vector<std::string>& lines) {
  return TorchArchive(TorchCode(lines), TorchObject());
}

}  // namespace wasinn::testing
