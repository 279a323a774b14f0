#include "backends/llama_guest.h"

#include "llama/text.h"
#include "support/files.h"

namespace wasinn::test {

std::string Prompt(size_t i) {
  std::string text = "the hen";
  for (size_t n = 0; n < i; ++n) text += n % 2 == 0 ? " ate the oats" : ", and";
  return text;
}

std::string TemporaryFile(const std::string& name, const std::string& bytes) {
  static const testing::TestFolder folder;
  return folder.Write(name, bytes);
}

double AllocatedBytes(const std::string& log) {
  constexpr std::string_view kBefore = "buffer size =";
  double allocated = 0;
  for (size_t at = log.find(kBefore); at != std::string::npos; at = log.find(kBefore, at + 1)) {
    allocated += std::stod(log.substr(at + kBefore.size(), 16)) * (1 << 20);
  }
  return allocated;
}

std::string Characters(const std::string& bytes) {
  llama::PieceWriter writer({});
  std::string text = writer.Add(bytes);
  return text + writer.End();
}

}  // namespace wasinn::test
