#include "serve/openai/fields.h"

#include <algorithm>
#include <cmath>

#include "core/text.h"
#include "serve/log.h"

namespace wasinn::serve::openai {
namespace {

using simdjson::dom::element;
using simdjson::dom::element_type;

// No request has more, and each look-up scans them.
constexpr size_t kMaxFields = 256;
constexpr size_t kMaxShown = 64;  // of a name in a message

[[noreturn]] void ThrowUnsupported(const std::string& name) {
  throw ApiError{.message = name + " is not supported here", .param = name, .code = "unsupported_parameter"};
}

}  // namespace

std::string WithoutNulls(element value, std::initializer_list<std::string_view> opaque) {
  std::string text;
  const auto separate = [&text] {
    if (text.size() > 1) text += ',';
  };
  if (value.is_array()) {
    text = "[";
    for (const element one : value.get_array()) {
      separate();
      text += WithoutNulls(one, opaque);
    }
    return text + ']';
  }
  if (!value.is_object()) return ToText(value);
  text = "{";
  for (const auto& [name, member] : value.get_object()) {
    if (member.is_null()) continue;
    separate();
    text += Dump(std::string(name)) + ':';
    text += std::ranges::find(opaque, name) == opaque.end() ? WithoutNulls(member, opaque) : ToText(member);
  }
  return text + '}';
}

bool IsNothing(element value) {
  switch (value.type()) {
    case element_type::BOOL:
      return !static_cast<bool>(value);
    case element_type::STRING:
      return value.get_string_length() == 0;
    case element_type::ARRAY:
      return value.get_array().size() == 0;
    case element_type::OBJECT:
      return value.get_object().size() == 0;
    case element_type::NULL_VALUE:
      return true;
    default:
      return false;
  }
}

std::string ToText(element value) { return simdjson::minify(value); }

bool IsTokens(element value) {
  if (!value.is_array() || value.get_array().size() == 0) return false;
  return std::ranges::all_of(value.get_array().value(), [](element one) { return one.is_int64() || one.is_uint64(); });
}

Fields::Fields(element object, std::string place) : place_(std::move(place)) {
  if (!object.is_object())
    ThrowWrong(place_, place_.empty() ? "the body is not a JSON object" : place_ + " is not an object");
  for (const auto& [name, value] : object.get_object()) {
    if (left_.size() == kMaxFields) ThrowWrong(place_, "there are more than {} fields", kMaxFields);
    // A proxy that checked the request may have read the other occurrence.
    const bool is_twice = std::ranges::any_of(left_, [&](const auto& one) { return one.first == name; });
    if (is_twice) ThrowWrong(NameOf(name), NameOf(name) + " occurs twice");
    left_.emplace_back(name, value);
  }
  std::erase_if(left_, [](const auto& one) { return one.second.is_null(); });
}

std::string Fields::NameOf(std::string_view field) const {
  const std::string name(field.substr(0, kMaxShown));
  return place_.empty() ? name : place_ + "." + name;
}

std::optional<element> Fields::Find(std::string_view name) {
  known_.push_back(name);
  return Take(name);
}

std::optional<element> Fields::Take(std::string_view name) {
  const auto found = std::ranges::find_if(left_, [&](const auto& one) { return one.first == name; });
  if (found == left_.end()) return std::nullopt;
  const element value = found->second;
  left_.erase(found);
  return value;
}

element Fields::Get(std::string_view name) {
  const auto found = Find(name);
  if (!found) ThrowWrong(NameOf(name), NameOf(name) + " is missing");
  return *found;
}

std::optional<std::string> Fields::Text(std::string_view name) {
  const auto found = Find(name);
  if (!found) return std::nullopt;
  if (!found->is_string()) ThrowWrong(NameOf(name), NameOf(name) + " is not a string");
  return std::string(static_cast<std::string_view>(*found));
}

std::optional<bool> Fields::Flag(std::string_view name) {
  const auto found = Find(name);
  if (!found) return std::nullopt;
  if (!found->is_bool()) ThrowWrong(NameOf(name), NameOf(name) + " is neither true nor false");
  return static_cast<bool>(*found);
}

std::optional<double> Fields::Number(std::string_view name, double least, double most) {
  const auto found = Find(name);
  if (!found) return std::nullopt;
  double number = 0;
  const bool is_number = found->get_double().get(number) == simdjson::SUCCESS;
  if (!is_number || !(number >= least && number <= most)) {
    ThrowWrong(NameOf(name), "{} is not a number from {} to {}", NameOf(name), least, most);
  }
  return number;
}

// Clients whose numbers are all floats write 7 as 7.0.
std::optional<int64_t> Fields::Integer(std::string_view name, int64_t least, int64_t most) {
  const auto found = Find(name);
  if (!found) return std::nullopt;
  int64_t integer = 0;
  double number = 0;
  bool is_integer = found->get_int64().get(integer) == simdjson::SUCCESS;
  constexpr double kExact = 9007199254740992;
  if (!is_integer && found->get_double().get(number) == simdjson::SUCCESS) {
    is_integer = std::abs(number) <= kExact && std::trunc(number) == number;
    if (is_integer) integer = static_cast<int64_t>(number);
  }
  if (!is_integer || integer < least || integer > most) {
    ThrowWrong(NameOf(name), "{} is not an integer from {} to {}", NameOf(name), least, most);
  }
  return integer;
}

std::optional<Fields> Fields::Object(std::string_view name) {
  const auto found = Find(name);
  if (!found) return std::nullopt;
  return Fields(*found, NameOf(name));
}

std::optional<std::string> Fields::Json(std::string_view name) {
  const auto found = Find(name);
  if (!found) return std::nullopt;
  return ToText(*found);
}

void Fields::Ignore(std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) (void)Take(name);
}

void Fields::IgnoreOthers(const char* api) {
  const std::string place = place_.empty() ? "" : place_ + ".";
  for (const auto& [name, value] : std::exchange(left_, {})) LogIgnored(api, place, name);
}

void Fields::Refuse(std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    const auto found = Take(name);
    if (found && !IsNothing(*found)) ThrowUnsupported(NameOf(name));
  }
}

void Fields::Join(std::string_view name) {
  const auto inner = Object(name);
  if (!inner) return;
  for (const auto& one : inner->left_) {
    const bool is_there = std::ranges::any_of(left_, [&](const auto& other) { return other.first == one.first; });
    if (!is_there) left_.push_back(one);
  }
}

void Fields::CheckAllRead() {
  if (left_.empty()) return;
  if (!is_strict) return IgnoreOthers("/v1");
  const std::string_view field = left_.front().first;
  const std::string name = NameOf(field);
  const std::vector<std::string> known(known_.begin(), known_.end());
  throw ApiError{.message = "there is no field " + name + core::SuggestNear(field.substr(0, kMaxShown), known),
                 .param = name,
                 .code = "unknown_parameter"};
}

}  // namespace wasinn::serve::openai
