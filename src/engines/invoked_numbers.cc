#include "engines/invoked_numbers.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <string_view>

namespace wasinn::engines {
namespace {

const char* NameOf(NumberType type) {
  static constexpr const char* kNames[] = {"i32", "i64", "f32", "f64"};
  return kNames[static_cast<size_t>(type)];
}

template <typename T>
std::optional<T> Read(std::string_view word) {
  T number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error != std::errc() || end != word.data() + word.size()) return std::nullopt;
  return number;
}

template <typename T>
std::optional<Number> ToNumber(std::string_view word) {
  const auto number = Read<T>(word);
  return number ? std::optional<Number>(*number) : std::nullopt;
}

template <typename Signed, typename Unsigned>
std::optional<Number> ToInteger(std::string_view word) {
  if (auto number = ToNumber<Signed>(word)) return number;
  const auto magnitude = Read<Unsigned>(word);
  return magnitude ? std::optional<Number>(static_cast<Signed>(*magnitude)) : std::nullopt;
}

std::optional<Number> ToNumber(NumberType type, std::string_view word) {
  switch (type) {
    case NumberType::kI32:
      return ToInteger<int32_t, uint32_t>(word);
    case NumberType::kI64:
      return ToInteger<int64_t, uint64_t>(word);
    case NumberType::kF32:
      return ToNumber<float>(word);
    case NumberType::kF64:
      return ToNumber<double>(word);
  }
  return std::nullopt;
}

}  // namespace

Result<std::vector<Number>> ReadNumbers(const std::string& function, std::span<const NumberType> types,
                                        std::span<const std::string> words) {
  if (words.size() != types.size()) {
    return std::unexpected(fmt::format("{} takes {} numbers, and {} were given", function, types.size(), words.size()));
  }
  std::vector<Number> numbers;
  for (size_t i = 0; i < words.size(); ++i) {
    const auto number = ToNumber(types[i], words[i]);
    if (!number) return std::unexpected(fmt::format("'{}' is not a number of type {}", words[i], NameOf(types[i])));
    numbers.push_back(*number);
  }
  return numbers;
}

std::string LineOf(const Number& number) {
  return std::visit([](auto value) { return fmt::format("{}\n", value); }, number);
}

std::string NoFunction(const std::string& name) { return "the module exports no function " + name; }
std::string NoNumbers(const std::string& name) {
  return name + " takes or returns other types than i32, i64, f32 and f64";
}

}  // namespace wasinn::engines
