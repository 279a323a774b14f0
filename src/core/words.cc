#include "core/words.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "core/text.h"

namespace wasinn::core {
namespace {

// Indexed by wasinn_dtype.
constexpr std::array<const char*, kDtypeCount> kDtypes = {"unknown", "f16", "bf16", "f32", "f64", "u8",  "i8",
                                                          "u16",     "i16", "u32",  "i32", "u64", "i64", "bool"};

using Word = std::pair<const char*, int>;

// The first word of a number is its name.
constexpr Word kTargets[] = {
    {"cpu", WASINN_TARGET_CPU}, {"gpu", WASINN_TARGET_GPU}, {"tpu", WASINN_TARGET_TPU}, {"auto", WASINN_TARGET_AUTO}};

constexpr Word kDialects[] = {{"witx", WASINN_DIALECT_DEFAULT},
                              {"wasmedge", WASINN_DIALECT_WASMEDGE},
                              {"wamr", WASINN_DIALECT_WAMR},
                              {"witx-0.1", WASINN_DIALECT_WITX_0_1}};

constexpr Word kLoads[] = {
    {"isolated", WASINN_LOAD_ISOLATED}, {"in-process", WASINN_LOAD_IN_PROCESS}, {"deny", WASINN_LOAD_DENY}};

constexpr Word kLogLevels[] = {{"error", WASINN_LOG_ERROR},
                               {"warning", WASINN_LOG_WARNING},
                               {"info", WASINN_LOG_INFO},
                               {"debug", WASINN_LOG_DEBUG}};

const char* NameIn(std::span<const Word> words, uint32_t number) {
  auto found = std::ranges::find(words, static_cast<int>(number), &Word::second);
  return found == words.end() ? "unknown" : found->first;
}

bool SameIgnoringCase(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

template <typename T>
Result<T> Parse(std::span<const Word> words, std::string_view what, std::string_view word) {
  for (const auto& [name, number] : words) {
    if (SameIgnoringCase(name, word)) return static_cast<T>(number);
  }
  std::vector<std::string> known;
  for (const auto& [name, number] : words) known.emplace_back(name);
  return Fail(WASINN_ERROR_INVALID_ARGUMENT, "unknown {} '{}'; known are {}", what, word, Join(known));
}

template <typename T>
Result<T> EnumOf(std::span<const Word> words, std::string_view field, uint32_t number) {
  const int value = static_cast<int>(number);
  if (std::ranges::find(words, value, &Word::second) != words.end()) return static_cast<T>(value);
  std::vector<std::string> known;
  for (const auto& [name, its_number] : words) known.push_back(fmt::format("{} ({})", its_number, name));
  return Fail(WASINN_ERROR_INVALID_ARGUMENT, "{} is {}: expected one of {}", field, value, Join(known));
}

}  // namespace

const char* DtypeName(uint32_t dtype) { return kDtypes[dtype < kDtypes.size() ? dtype : 0]; }
const char* TargetName(uint32_t target) { return NameIn(kTargets, target); }

Result<wasinn_target> ParseTarget(std::string_view word) { return Parse<wasinn_target>(kTargets, "target", word); }
Result<wasinn_dialect> ParseDialect(std::string_view word) { return Parse<wasinn_dialect>(kDialects, "dialect", word); }
Result<wasinn_load> ParseLoad(std::string_view word) { return Parse<wasinn_load>(kLoads, "way to load", word); }
Result<wasinn_log_level> ParseLogLevel(std::string_view word) {
  return Parse<wasinn_log_level>(kLogLevels, "log level", word);
}

Result<wasinn_target> TargetOf(std::string_view field, uint32_t number) {
  return EnumOf<wasinn_target>(kTargets, field, number);
}
Result<wasinn_dialect> DialectOf(std::string_view field, uint32_t number) {
  return EnumOf<wasinn_dialect>(kDialects, field, number);
}
Result<wasinn_load> LoadOf(std::string_view field, uint32_t number) {
  return EnumOf<wasinn_load>(kLoads, field, number);
}

}  // namespace wasinn::core
