#include "common/config.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <climits>

#include "base/json.h"
#include "common/json.h"
#include "common/throw.h"

namespace wasinn::backend {

namespace {

std::optional<std::string> Text(const nlohmann::json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_boolean()) return value.get<bool>() ? "1" : "0";
  if (value.is_number()) return value.dump();
  return std::nullopt;
}

// For messages. Writing a value is recursive, so a value that a guest has nested a million deep is only named.
std::string Found(const nlohmann::json& value) {
  constexpr auto kReplace = nlohmann::json::error_handler_t::replace;
  if (value.is_structured()) return value.is_array() ? "a list" : "an object";
  return value.dump(-1, ' ', false, kReplace);
}

// Recurses no deeper than the limit.
bool IsDeeperThan(const nlohmann::ordered_json& value, size_t depth) {
  if (!value.is_structured()) return false;
  if (depth == 0) return true;
  for (const auto& inner : value) {
    if (IsDeeperThan(inner, depth - 1)) return true;
  }
  return false;
}

// False if a value is no text, number or boolean.
bool ReadEntries(const nlohmann::json& object, const char* except, Config::Entries* entries) {
  for (const auto& [key, value] : object.items()) {
    if (key == except) continue;
    auto text = Text(value);
    if (!text) return false;
    entries->emplace_back(key, *std::move(text));
  }
  return true;
}

bool ReadNamed(const nlohmann::json& value, Config::Named* named) {
  if (value.is_string()) {
    named->name = value.get<std::string>();
    return true;
  }
  if (!value.is_object()) return false;
  auto name = value.find("name");
  if (name == value.end() || !name->is_string()) return false;
  named->name = name->get<std::string>();
  return ReadEntries(value, "name", &named->options);
}

constexpr char kThreads[] = "threads";

}  // namespace

struct Config::Json {
  nlohmann::json object = nlohmann::json::object();

  // NULL if there is no such key.
  const nlohmann::json* Find(const char* key) const {
    auto found = object.find(key);
    return found == object.end() ? nullptr : &*found;
  }
};

Config::Config(const char* text, std::string where) : json_(std::make_unique<Json>()), where_(std::move(where)) {
  if (text == nullptr || *text == '\0') return;
  json_->object = base::ParseJson(text);
  if (!json_->object.is_object()) {
    Throw(WASINN_ERROR_INVALID_ARGUMENT, "{}: expected the text of a JSON object, nested no deeper than {}", where_,
          base::kDeepestJson);
  }
  text_ = text;
}

Config::~Config() = default;

void Config::Refuse(const char* key, const std::string& expected) const {
  Throw(WASINN_ERROR_INVALID_ARGUMENT, "{}: {}: expected {}, found {}", where_, key, expected,
        Found(*json_->Find(key)));
}

bool Config::Has(const char* key) const { return json_->Find(key) != nullptr; }

bool Config::IsString(const char* key) const {
  const auto* value = json_->Find(key);
  return value != nullptr && value->is_string();
}

template <typename T, typename Is>
std::optional<T> Config::Get(const char* key, const std::string& expected, const Is& is) const {
  const auto* value = json_->Find(key);
  if (value == nullptr) return std::nullopt;
  if (!is(*value)) Refuse(key, expected);
  return value->template get<T>();
}

std::optional<std::string> Config::String(const char* key) const {
  return Get<std::string>(key, "a string", [](const auto& value) { return value.is_string(); });
}

std::optional<std::string> Config::AbsolutePath(const char* key) const {
  std::optional<std::string> path = String(key);
  if (path && !path->starts_with('/')) Refuse(key, "an absolute path");
  return path;
}

std::optional<bool> Config::Bool(const char* key) const {
  return Get<bool>(key, "true or false", [](const auto& value) { return value.is_boolean(); });
}

std::optional<int64_t> Config::Integer(const char* key, int64_t least, int64_t most) const {
  return Get<int64_t>(key, fmt::format("a whole number from {} to {}", least, most), [&](const auto& value) {
    const bool too_large =
        value.is_number_unsigned() && value.template get<uint64_t>() > static_cast<uint64_t>(INT64_MAX);
    return value.is_number_integer() && !too_large && value.template get<int64_t>() >= least &&
           value.template get<int64_t>() <= most;
  });
}

std::optional<double> Config::Number(const char* key, double least, double most) const {
  return Get<double>(key, fmt::format("a number from {} to {}", least, most), [&](const auto& value) {
    // Not inverted: NaN compares with nothing.
    return value.is_number() && value.template get<double>() >= least && value.template get<double>() <= most;
  });
}

std::optional<std::vector<std::string>> Config::StringList(const char* key) const {
  const auto* value = json_->Find(key);
  if (value == nullptr) return std::nullopt;
  if (value->is_string()) return std::vector{value->get<std::string>()};
  const auto is_string = [](const auto& one) { return one.is_string(); };
  if (!value->is_array() || !std::ranges::all_of(*value, is_string)) Refuse(key, "a string or a list of strings");
  return value->get<std::vector<std::string>>();
}

std::vector<std::string> Config::AbsolutePaths(const char* key) const {
  std::vector<std::string> paths = StringList(key).value_or(std::vector<std::string>());
  if (std::ranges::all_of(paths, [](const std::string& one) { return one.starts_with('/'); })) return paths;
  Refuse(key, "absolute paths");
}

std::string Config::Ordered(const char* key, size_t depth) const {
  if (!OrderedJsonCheck::Passes(text_, base::kDeepestJson)) {
    Refuse(key, fmt::format("objects with no more than {} names", kMaxOrderedNames));
  }
  const auto all = nlohmann::ordered_json::parse(text_);
  const auto& value = all.at(key);
  if (IsDeeperThan(value, depth)) Refuse(key, fmt::format("JSON that is nested no deeper than {}", depth));
  return value.dump();
}

std::optional<std::string> Config::JsonText(const char* key, size_t depth) const {
  const auto* value = json_->Find(key);
  if (value == nullptr) return std::nullopt;
  if (!value->is_string()) return Ordered(key, depth);
  const auto& text = value->get_ref<const std::string&>();
  if (OrderedJsonCheck::Passes(text, depth)) return text;
  Refuse(key, fmt::format("JSON that is nested no deeper than {}, objects with no more than {} names", depth,
                          kMaxOrderedNames));
}

std::optional<std::string> Config::ValueText(const char* key, size_t depth) const {
  if (json_->Find(key) == nullptr) return std::nullopt;
  return Ordered(key, depth);
}

std::vector<std::string> Config::Keys() const {
  std::vector<std::string> keys;
  for (const auto& [key, value] : json_->object.items()) keys.push_back(key);
  return keys;
}

std::optional<size_t> Config::Word(const char* key, std::span<const char* const> words) const {
  const auto* value = json_->Find(key);
  if (value == nullptr) return std::nullopt;
  for (size_t i = 0; value->is_string() && i < words.size(); ++i) {
    if (value->get_ref<const std::string&>() == words[i]) return i;
  }
  Refuse(key, fmt::format("one of {}", fmt::join(words, ", ")));
}

std::optional<Config::Entries> Config::Strings(const char* key) const {
  const auto* value = json_->Find(key);
  if (value == nullptr) return std::nullopt;
  Entries entries;
  if (!value->is_object() || !ReadEntries(*value, "", &entries)) {
    Refuse(key, "an object of strings, numbers and booleans");
  }
  return entries;
}

std::optional<std::vector<Config::Named>> Config::NamedList(const char* key) const {
  const auto* value = json_->Find(key);
  if (value == nullptr) return std::nullopt;
  std::vector<Named> list;
  const auto read = [&list](const auto& one) { return ReadNamed(one, &list.emplace_back()); };
  if (!value->is_array() || !std::ranges::all_of(*value, read)) {
    Refuse(key, "a list of names, or of objects with a \"name\" and options");
  }
  return list;
}

int ThreadBudget(uint32_t budget) { return static_cast<int>(std::clamp<uint32_t>(budget, 1, INT_MAX)); }

int BackendThreads(const Config& backend, uint32_t budget) {
  const int most = ThreadBudget(budget);
  return static_cast<int>(backend.Integer(kThreads, 1, most).value_or(most));
}

int ModelThreads(const Config& host, const Config& guest, int most, int usual) {
  const int64_t threads = host.Integer(kThreads, 1, most).value_or(usual);
  return static_cast<int>(std::min(guest.Integer(kThreads, 1, INT_MAX).value_or(threads), threads));
}

}  // namespace wasinn::backend
