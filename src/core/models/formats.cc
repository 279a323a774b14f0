#include "core/models/formats.h"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <utility>

#include "core/c_struct.h"
#include "core/text.h"

namespace wasinn::core {
namespace {

// Spellings that users of other wasi-nn hosts know.
constexpr std::pair<std::string_view, std::string_view> kSpellings[] = {
    {"autodetect", ""}, {"tflite", "tensorflowlite"}, {"gguf", "ggml"}};

bool IsFormatName(std::string_view name) {
  constexpr size_t kLongest = 64;
  constexpr std::string_view kOthers = "-_.";
  return !name.empty() && name.size() <= kLongest && std::ranges::all_of(name, [&](unsigned char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || kOthers.find(static_cast<char>(c)) != kOthers.npos;
  });
}

bool HasMagic(const wasinn_format& format, std::span<const uint8_t> start) {
  return std::ranges::any_of(std::span(format.magics, format.n_magics), [&](const wasinn_magic& magic) {
    return start.size() >= uint64_t{magic.offset} + magic.size &&
           std::memcmp(start.data() + magic.offset, magic.bytes, magic.size) == 0;
  });
}

bool IsRecognised(const wasinn_format& format, std::span<const uint8_t> start, uint64_t size) {
  return format.recognise != nullptr && format.recognise(start.data(), start.size(), size) != 0;
}

Status CheckFormat(const wasinn_format& format, size_t index) {
  const auto fail = [&](std::string_view problem) {
    return Error(WASINN_ERROR_UNSUPPORTED_OPERATION, "its format {} {}", index, problem);
  };
  if (format.name == nullptr) return fail("has no name");
  if (!IsFormatName(format.name) || FormatName(format.name) != format.name) {
    return fail(fmt::format("is called '{}', which is not a valid name of a format", format.name));
  }
  const auto has_no_null = [](const char* const* texts, size_t n) {
    return std::ranges::all_of(std::span(texts, texts == nullptr ? 0 : n),
                               [](const char* text) { return text != nullptr && *text != '\0'; });
  };
  if (!has_no_null(format.endings, format.n_endings)) return fail("has an empty ending");
  if (!has_no_null(format.files, format.n_files)) return fail("has an empty name of a file");
  if (!has_no_null(format.schemes, format.n_schemes)) return fail("has an empty scheme of addresses");
  for (const wasinn_magic& magic : std::span(format.magics, format.magics == nullptr ? 0 : format.n_magics)) {
    if (magic.bytes == nullptr || magic.size == 0) return fail("has an empty magic");
  }
  return Status();
}

}  // namespace

Result<std::vector<wasinn_format>> ReadFormats(const wasinn_backend& table) {
  std::vector<wasinn_format> formats;
  for (size_t i = 0; i < table.n_formats; ++i) {
    if (table.formats[i] == nullptr) return Fail(WASINN_ERROR_UNSUPPORTED_OPERATION, "its format {} is not there", i);
    ASSIGN_OR_RETURN(wasinn_format read, ReadStruct(*table.formats[i], "its wasinn_format"));
    RETURN_IF_ERROR(CheckFormat(read, i));
    if (read.endings == nullptr) read.n_endings = 0;
    if (read.files == nullptr) read.n_files = 0;
    if (read.magics == nullptr) read.n_magics = 0;
    if (read.schemes == nullptr) read.n_schemes = 0;
    formats.push_back(read);
  }
  return formats;
}

std::string FormatName(std::string_view word) {
  std::string name(word);
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const auto spelling = std::ranges::find(kSpellings, name, &std::pair<std::string_view, std::string_view>::first);
  return spelling == std::end(kSpellings) ? name : std::string(spelling->second);
}

bool HasFormat(Formats formats, std::string_view name) {
  return std::ranges::any_of(formats, [&](const wasinn_format& format) { return name == format.name; });
}

std::string ListFormats(Formats formats) {
  std::vector<std::string> names;
  for (const wasinn_format& format : formats) {
    if (std::ranges::find(names, format.name) == names.end()) names.emplace_back(format.name);
  }
  return Join(names);
}

std::string FormatOfBytes(Formats formats, std::span<const uint8_t> start, uint64_t size) {
  for (const wasinn_format& format : formats) {
    if (HasMagic(format, start)) return format.name;
  }
  for (const wasinn_format& format : formats) {
    if (IsRecognised(format, start, size)) return format.name;
  }
  return "";
}

bool MayBeOf(Formats formats, std::string_view name, std::span<const uint8_t> start, uint64_t size,
             std::string& found) {
  for (const wasinn_format& format : formats) {
    if (name == format.name && (HasMagic(format, start) || IsRecognised(format, start, size))) return true;
  }
  found = FormatOfBytes(formats, start, size);
  return found.empty();
}

std::string FormatOfFileName(Formats formats, std::string_view name) {
  for (const wasinn_format& format : formats) {
    const std::span endings(format.endings, format.n_endings);
    if (std::ranges::any_of(endings, [&](const char* ending) { return name.ends_with(ending); })) return format.name;
  }
  return "";
}

std::string SchemeOf(std::string_view path) {
  std::string scheme(path.substr(0, std::min(path.find("://"), path.size())));
  if (scheme.size() == path.size()) return "";
  std::ranges::transform(scheme, scheme.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  // By RFC 3986.
  const auto is_inside = [](unsigned char c) { return std::isalnum(c) != 0 || c == '+' || c == '-' || c == '.'; };
  const bool is_scheme = !scheme.empty() && std::isalpha(static_cast<unsigned char>(scheme.front())) != 0 &&
                         std::ranges::all_of(scheme, is_inside);
  return is_scheme ? scheme : "";
}

Result<std::string> FormatOfScheme(Formats formats, std::string_view scheme) {
  std::vector<std::string> known;
  for (const wasinn_format& format : formats) {
    for (const char* one : std::span(format.schemes, format.n_schemes)) {
      if (scheme == one) return format.name;
      known.emplace_back(one);
    }
  }
  return Fail(WASINN_ERROR_UNSUPPORTED_OPERATION, "no backend here serves models at addresses of '{}://'; known are {}",
              scheme, known.empty() ? "none" : Join(known));
}

bool HasAddresses(Formats formats, std::string_view name) {
  return std::ranges::any_of(formats,
                             [&](const wasinn_format& format) { return name == format.name && format.n_schemes > 0; });
}

}  // namespace wasinn::core
