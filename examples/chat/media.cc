#include "media.h"

#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string_view>

#include "options.h"

namespace {

struct Close {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

std::optional<std::string> ReadFile(const std::string& path) {
  const std::unique_ptr<std::FILE, Close> file(std::fopen(path.c_str(), "rb"));
  if (file == nullptr) {
    std::perror(("chat: " + path).c_str());
    return std::nullopt;
  }
  std::string bytes;
  char piece[1 << 14];
  while (const size_t read = std::fread(piece, 1, sizeof piece, file.get())) bytes.append(piece, read);
  if (std::ferror(file.get()) != 0) {  // for example a folder
    std::perror(("chat: " + path).c_str());
    return std::nullopt;
  }
  return bytes;
}

// RFC 4648, section 4
std::string Base64(std::string_view bytes) {
  constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t group = 0;
    for (size_t j = 0; j < 3; ++j) group = group << 8 | (i + j < bytes.size() ? static_cast<uint8_t>(bytes[i + j]) : 0);
    for (size_t j = 0; j < 4; ++j) text += i + j <= bytes.size() ? kDigits[group >> (18 - 6 * j) & 63] : '=';
  }
  return text;
}

std::string Ending(const std::string& path) { return path.substr(path.find_last_of('.') + 1); }

}  // namespace

std::string ImagePart(const std::string& path) {
  const std::optional<std::string> bytes = ReadFile(path);
  if (!bytes) return "";
  const std::string url = "data:image/" + Ending(path) + ";base64," + Base64(*bytes);
  return R"({"type": "image_url", "image_url": {"url": )" + Quoted(url) + "}}";
}

std::string SoundPart(const std::string& path) {
  const std::optional<std::string> bytes = ReadFile(path);
  if (!bytes) return "";
  return R"({"type": "input_audio", "input_audio": {"data": )" + Quoted(Base64(*bytes)) + R"(, "format": )" +
         Quoted(Ending(path)) + "}}";
}
