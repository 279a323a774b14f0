#include "llama/schema_disjoint.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

namespace wasinn::llama {

using nlohmann::ordered_json;

namespace {

std::set<std::string> TypesOf(const ordered_json& schema) {
  std::set<std::string> types;
  const auto add = [&](const std::string& type) { types.insert(type == "integer" ? "number" : type); };
  if (schema.contains("const")) {
    add(SchemaTypeOf(schema["const"]));
  } else if (schema.contains("enum") && schema["enum"].is_array()) {
    for (const ordered_json& value : schema["enum"]) add(SchemaTypeOf(value));
  } else if (schema.contains("type") && schema["type"].is_array()) {
    for (const ordered_json& type : schema["type"]) add(type.is_string() ? type.get<std::string>() : "");
  } else if (schema.contains("type") && schema["type"].is_string()) {
    add(schema["type"].get<std::string>());
  }
  return types;
}

ordered_json ValuesOf(const ordered_json& schema) {
  return schema.contains("const") ? ordered_json::array({schema["const"]})
                                  : schema.value("enum", ordered_json::array());
}

template <typename List>
bool HaveNoneInCommon(const List& a, const List& b) {
  return std::ranges::none_of(a, [&](const auto& one) { return std::ranges::find(b, one) != b.end(); });
}

bool Requires(const ordered_json& schema, const std::string& property) {
  return schema.contains("required") &&
         std::ranges::find(schema["required"], ordered_json(property)) != schema["required"].end();
}

const ordered_json& Resolved(const ordered_json& root, const ordered_json& schema) {
  const bool refers = schema.is_object() && schema.contains("$ref");
  const ordered_json* const target = refers ? SchemaAt(root, schema["$ref"]) : nullptr;
  return target == nullptr ? schema : *target;
}

bool AreDisjoint(const ordered_json& root, const ordered_json& first, const ordered_json& second, int depth) {
  constexpr int kEnough = 2;
  const ordered_json &a = Resolved(root, first), &b = Resolved(root, second);
  if (depth > kEnough || !a.is_object() || !b.is_object()) return false;
  const std::set<std::string> types_of_a = TypesOf(a), types_of_b = TypesOf(b);
  if (!types_of_a.empty() && !types_of_b.empty() && HaveNoneInCommon(types_of_a, types_of_b)) return true;
  const ordered_json values_of_a = ValuesOf(a), values_of_b = ValuesOf(b);
  if (!values_of_a.empty() && !values_of_b.empty()) return HaveNoneInCommon(values_of_a, values_of_b);
  // Both must have the property in which objects differ.
  if (!a.contains("properties") || !b.contains("properties")) return false;
  for (const auto& [name, property] : a["properties"].items()) {
    if (Requires(a, name) && Requires(b, name) && b["properties"].contains(name) &&
        AreDisjoint(root, property, b["properties"][name], depth + 1)) {
      return true;
    }
  }
  return false;
}

}  // namespace

const ordered_json* SchemaAt(const ordered_json& root, const ordered_json& reference) {
  if (!reference.is_string()) return nullptr;
  const auto& text = reference.get_ref<const std::string&>();
  if (!text.starts_with("#/")) return nullptr;
  const ordered_json* at = &root;
  for (size_t start = 2; start <= text.size() && at != nullptr;) {
    const size_t end = std::min(text.find('/', start), text.size());
    const std::string name = text.substr(start, end - start);
    at = at->is_object() && at->contains(name) ? &(*at)[name] : nullptr;
    start = end + 1;
  }
  return at;
}

const char* SchemaTypeOf(const ordered_json& value) {
  if (value.is_number()) {
    const bool whole = value.is_number_integer() || std::floor(value.get<double>()) == value.get<double>();
    return whole ? "integer" : "number";
  }
  return value.is_null() ? "null" : value.type_name();
}

bool AreDisjoint(const ordered_json& root, const ordered_json& first, const ordered_json& second) {
  return AreDisjoint(root, first, second, 0);
}

}  // namespace wasinn::llama
