#include "backends/llama_guest.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string_view>

#include "llama/text.h"

namespace wasinn::test {

namespace {

struct Folder {
  Folder() {
    std::string pattern = std::filesystem::temp_directory_path() / "wasinn-llama-XXXXXX";
    path = mkdtemp(pattern.data());
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  std::filesystem::path path;
};

}  // namespace

std::string Prompt(size_t i) {
  std::string text = "the hen";
  for (size_t n = 0; n < i; ++n) text += n % 2 == 0 ? " ate the oats" : ", and";
  return text;
}

std::string TemporaryFile(const std::string& name, const std::string& bytes) {
  static const Folder folder;
  const std::string path = folder.path / name;
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
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
