#include "llama/held_schema.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "common/throw.h"
#include "llama/schema_disjoint.h"
#include "llama/schema_pattern.h"

namespace wasinn::llama {

using backend::Throw;
using nlohmann::ordered_json;

namespace {

using Keywords = std::initializer_list<const char*>;

bool IsIn(std::string_view word, Keywords words) {
  return std::ranges::any_of(words, [&](const char* one) { return word == one; });
}

// The specification's keywords that constrain a value. All others do not.
constexpr Keywords kConstraints = {
    "type", "const", "enum", "allOf", "anyOf", "oneOf", "not", "if", "then", "else", "$ref", "$dynamicRef",
    "$recursiveRef",
    // numbers
    "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "divisibleBy",
    // strings
    "minLength", "maxLength", "pattern", "format",
    // lists
    "items", "prefixItems", "additionalItems", "unevaluatedItems", "contains", "minContains", "maxContains", "minItems",
    "maxItems", "uniqueItems",
    // objects
    "properties", "required", "additionalProperties", "unevaluatedProperties", "patternProperties", "propertyNames",
    "minProperties", "maxProperties", "dependentRequired", "dependentSchemas", "dependencies"};

constexpr Keywords kNumberKeywords = {"minimum",          "maximum",    "exclusiveMinimum",
                                      "exclusiveMaximum", "multipleOf", "divisibleBy"};
constexpr Keywords kStringKeywords = {"minLength", "maxLength", "pattern", "format"};
constexpr Keywords kListKeywords = {"items",       "prefixItems", "additionalItems", "unevaluatedItems", "contains",
                                    "minContains", "maxContains", "minItems",        "maxItems",         "uniqueItems"};
constexpr Keywords kObjectKeywords = {
    "properties",        "required",         "additionalProperties", "unevaluatedProperties",
    "patternProperties", "propertyNames",    "minProperties",        "maxProperties",
    "dependentRequired", "dependentSchemas", "dependencies"};

// llama.cpp knows the formats of dates and uuid. The others become patterns, without rare forms.
struct Format {
  const char* name;
  const char* pattern;
};
constexpr Format kFormats[] = {
    {"email", R"(^[a-z0-9][a-z0-9._+-]{0,30}@([a-z0-9]{1,30}\.){1,4}[a-z]{2,12}$)"},
    {"hostname", R"(^([a-z0-9]{1,30}\.){0,4}[a-z0-9]{1,30}$)"},
    {"ipv4", R"(^((25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])\.){3}(25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])$)"},
    {"ipv6", R"(^([0-9a-f]{1,4}:){7}[0-9a-f]{1,4}$)"},
    {"uri",
     R"(^https?://([a-z0-9-]{1,30}\.){0,4}[a-z0-9]{1,30}(/[A-Za-z0-9._~-]{0,60}){0,12}(\?[A-Za-z0-9._~=&-]{0,120})?$)"},
};

class SchemaEnforcer {
 public:
  SchemaEnforcer(const char* key, ordered_json root) : key_(key), given_(std::move(root)) {}

  std::string Enforce() {
    ordered_json root = given_;
    Visit(&root, "#", 0);
    for (const auto& [at, target] : references_) {
      if (!visited_.contains(target)) Refuse(at, "$ref");
    }
    return root.dump();
  }

 private:
  static constexpr size_t kDeepest = 64;
  static constexpr uint64_t kMaxWork = 4 << 20;  // bytes of schemas that are read and copied

  [[noreturn]] void Refuse(const std::string& at, const std::string& keyword, const std::string& why = "") const {
    constexpr size_t kLongest = 200;
    Throw(WASINN_ERROR_INVALID_ARGUMENT, "{}: {}: \"{}\" cannot be enforced{}", key_, at.substr(0, kLongest),
          keyword.substr(0, kLongest), why.empty() ? "" : ": " + why);
  }

  void Work(uint64_t bytes) {
    work_ += bytes;
    if (work_ > kMaxWork) Throw(WASINN_ERROR_TOO_LARGE, "{}: its parts are repeated too often", key_);
  }

  static bool Has(const ordered_json& node, const char* key) { return node.contains(key); }

  // Other keywords of a node that constrain a value.
  static std::vector<std::string> Others(const ordered_json& node, Keywords but) {
    std::vector<std::string> others;
    for (const auto& [name, value] : node.items()) {
      if (IsIn(name, kConstraints) && !IsIn(name, but)) others.push_back(name);
    }
    return others;
  }

  void Visit(ordered_json* node, const std::string& at, size_t depth) {
    if (depth > kDeepest) Throw(WASINN_ERROR_TOO_LARGE, "{}: it is too deep", key_);
    Work(64 + at.size());
    visited_.insert(at);
    if (*node == true) *node = ordered_json::object();
    if (*node == false) Refuse(at, "false");
    if (!node->is_object()) Throw(WASINN_ERROR_INVALID_ARGUMENT, "{}: {}: expected a schema", key_, at);
    for (const char* definitions : {"$defs", "definitions"}) VisitNamed(node, definitions, at, depth);
    if (Has(*node, "allOf")) Merge(node, at, depth);
    if (Has(*node, "$ref")) return Refer(*node, at);
    for (const char* key : {"oneOf", "anyOf"}) {
      if (Has(*node, key)) return VisitAlternatives(node, key, at, depth);
    }
    for (const char* key : {"not", "if", "then", "else", "$dynamicRef", "$recursiveRef"}) {
      if (Has(*node, key)) Refuse(at, key);
    }
    if (Has(*node, "const") || Has(*node, "enum")) return HoldValues(node, at);
    InferType(node, at);
    const auto is = [&](const char* type) {
      const ordered_json& types = (*node)["type"];
      return types == type || (types.is_array() && std::ranges::find(types, ordered_json(type)) != types.end());
    };
    if (!Has(*node, "type")) return;
    if (is("number")) HoldNumber(*node, at);
    if (is("integer")) HoldInteger(node, at);
    if (is("string")) HoldString(node, at);
    if (is("array")) HoldList(node, at, depth);
    if (is("object")) HoldObject(node, at, depth);
  }

  void VisitNamed(ordered_json* node, const char* key, const std::string& at, size_t depth) {
    if (!Has(*node, key) || !(*node)[key].is_object()) return;
    for (auto& [name, inner] : (*node)[key].items()) Visit(&inner, at + '/' + key + '/' + name, depth + 1);
  }

  void Refer(const ordered_json& node, const std::string& at) {
    if (const auto others = Others(node, {"$ref"}); !others.empty()) Refuse(at, others.front(), "next to $ref");
    if (node["$ref"].is_string()) references_.emplace_back(at, node["$ref"].get<std::string>());
  }

  // Moves keywords next to alternatives into each of them.
  void VisitAlternatives(ordered_json* node, const char* key, const std::string& at, size_t depth) {
    ordered_json& list = (*node)[key];
    if (!list.is_array() || list.empty()) Refuse(at, key, "expected a list of schemas");
    if (Has(*node, "oneOf") && Has(*node, "anyOf")) Refuse(at, "anyOf", "next to oneOf");
    const std::vector<std::string> others = Others(*node, {key});
    size_t i = 0;
    for (ordered_json& one : list) {
      if (!others.empty() && one == true) one = ordered_json::object();
      for (const std::string& name : others) {
        if (!one.is_object()) Refuse(at, key);
        Work((*node)[name].dump().size());
        Join(&one, name, (*node)[name], at);
      }
      Visit(&one, fmt::format("{}/{}/{}", at, key, i++), depth + 1);
    }
    for (const std::string& name : others) node->erase(name);
    if (std::string_view(key) == "oneOf") CheckDisjoint(list, at);
  }

  // Adds a keyword to a schema.
  void Join(ordered_json* node, const std::string& name, const ordered_json& value, const std::string& at) {
    if (!Has(*node, name.c_str())) {
      (*node)[name] = value;
      return;
    }
    ordered_json& own = (*node)[name];
    if (own == value) return;
    if (name == "required" && own.is_array() && value.is_array()) {
      for (const ordered_json& one : value) {
        if (std::ranges::find(own, one) == own.end()) own.push_back(one);
      }
    } else if (name == "properties" && own.is_object() && value.is_object()) {
      for (const auto& [property, schema] : value.items()) {
        if (own.contains(property) && own[property] != schema) Refuse(at, property, "it is described twice");
        own[property] = schema;
      }
    } else if (name == "enum" && own.is_array() && value.is_array()) {
      auto both = ordered_json::array();
      for (const ordered_json& one : own) {
        if (std::ranges::find(value, one) != value.end()) both.push_back(one);
      }
      own = std::move(both);
    } else if (IsIn(name, {"minimum", "exclusiveMinimum", "minLength", "minItems"}) && own.is_number() &&
               value.is_number()) {
      own = std::max(own, value);
    } else if (IsIn(name, {"maximum", "exclusiveMaximum", "maxLength", "maxItems"}) && own.is_number() &&
               value.is_number()) {
      own = std::min(own, value);
    } else {
      Refuse(at, name, "it is set twice");
    }
  }

  // Joins all parts of an allOf into one schema.
  void Merge(ordered_json* node, const std::string& at, size_t depth) {
    const ordered_json parts = std::move((*node)["allOf"]);
    node->erase("allOf");
    if (!parts.is_array() || parts.empty()) Refuse(at, "allOf", "expected a list of schemas");
    const bool is_alone = parts.size() == 1 && Others(*node, {}).empty();
    for (const ordered_json& part : parts) {
      if (is_alone && part.is_object() && Has(part, "$ref")) {
        JoinAll(node, part, at);
      } else {
        MergePart(node, part, at, depth + 1);
      }
    }
  }
  void MergePart(ordered_json* node, ordered_json part, const std::string& at, size_t depth) {
    Work(64 + part.dump().size());
    if (part == true) return;
    if (!part.is_object()) Refuse(at, "allOf");
    if (depth > kDeepest) Refuse(at, "allOf", "its references are circular or too deep");
    if (Has(part, "$ref")) {
      const ordered_json* target = SchemaAt(given_, part["$ref"]);
      if (target == nullptr) Refuse(at, "$ref");
      MergePart(node, *target, at, depth + 1);
      part.erase("$ref");
    }
    if (Has(part, "allOf")) Merge(&part, at, depth);
    JoinAll(node, part, at);
  }
  void JoinAll(ordered_json* node, const ordered_json& part, const std::string& at) {
    for (const std::string& name : Others(part, {})) Join(node, name, part[name], at);
  }

  static bool Allows(const ordered_json& types, const ordered_json& value) {
    const ordered_json type = SchemaTypeOf(value);
    const auto is = [&](const ordered_json& one) { return one == type || (type == "integer" && one == "number"); };
    return types.is_array() ? std::ranges::any_of(types, is) : is(types);
  }

  // Listed values leave no room for other keywords.
  void HoldValues(ordered_json* node, const std::string& at) {
    if (const auto others = Others(*node, {"const", "enum", "type"}); !others.empty()) {
      Refuse(at, others.front(), "next to const or enum");
    }
    auto values = Has(*node, "const") ? ordered_json::array({(*node)["const"]}) : (*node)["enum"];
    if (!values.is_array()) Refuse(at, "enum", "expected a list");
    auto held = ordered_json::array();
    for (const ordered_json& value : values) {
      const bool is_listed = !Has(*node, "enum") || std::ranges::find((*node)["enum"], value) != (*node)["enum"].end();
      if (is_listed && (!Has(*node, "type") || Allows((*node)["type"], value))) held.push_back(value);
    }
    if (held.empty()) Refuse(at, "enum", "no value is left");
    node->erase("const");
    node->erase("type");
    (*node)["enum"] = std::move(held);
  }

  // Infers a missing type from the keywords.
  void InferType(ordered_json* node, const std::string& at) {
    if (Has(*node, "type") && !(*node)["type"].is_null()) return;
    const auto has_any = [&](Keywords words) {
      return std::ranges::any_of(words, [&](const char* word) { return Has(*node, word); });
    };
    const char* type = has_any(kObjectKeywords)   ? "object"
                       : has_any(kListKeywords)   ? "array"
                       : has_any(kStringKeywords) ? "string"
                       : has_any(kNumberKeywords) ? "integer"
                                                  : nullptr;
    if (type != nullptr) (*node)["type"] = type;
    if (type == nullptr && !Others(*node, {"type"}).empty()) Refuse(at, Others(*node, {"type"}).front());
  }

  // llama.cpp supports no bounds of numbers.
  void HoldNumber(const ordered_json& node, const std::string& at) const {
    for (const char* key : kNumberKeywords) {
      if (Has(node, key)) Refuse(at, key, "for a number; only for an integer");
    }
  }

  void HoldInteger(ordered_json* node, const std::string& at) {
    for (const char* key : {"multipleOf", "divisibleBy"}) {
      if (Has(*node, key) && (*node)[key] != 1) Refuse(at, key);
    }
    constexpr double kNone = std::numeric_limits<double>::infinity(), kMax = 1LL << 53;
    double least = -kNone, most = kNone;
    for (const char* key : {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"}) {
      if (!Has(*node, key)) continue;
      const ordered_json value = (*node)[key];
      if (!value.is_number() || std::abs(value.get<double>()) > kMax) Refuse(at, key);
      const double bound = value.get<double>();
      const bool excludes = key[0] == 'e';
      if (std::string_view(key).ends_with("inimum")) {
        least = std::max(least, excludes ? std::floor(bound) + 1 : std::ceil(bound));
      } else {
        most = std::min(most, excludes ? std::ceil(bound) - 1 : std::floor(bound));
      }
      node->erase(key);
    }
    if (least > most) Refuse(at, "minimum", "no integer is left");
    if (least != -kNone) (*node)["minimum"] = static_cast<int64_t>(least);
    if (most != kNone) (*node)["maximum"] = static_cast<int64_t>(most);
  }

  // llama.cpp ignores larger numbers.
  static void Narrow(ordered_json* node, const char* key) {
    constexpr int kMax = 2000;
    if (Has(*node, key) && (*node)[key].is_number() && (*node)[key] > kMax) (*node)[key] = kMax;
  }

  void HoldString(ordered_json* node, const std::string& at) const {
    Narrow(node, "maxLength");
    if (Has(*node, "format")) HoldFormat(node, at);
    const char* fixed = Has(*node, "pattern") ? "pattern" : "format";
    for (const char* key : {"minLength", "maxLength"}) {
      if (Has(*node, key) && Has(*node, fixed)) Refuse(at, key, fmt::format("next to {}", fixed));
    }
    if (Has(*node, "minLength") && Has(*node, "maxLength") && (*node)["minLength"] > (*node)["maxLength"]) {
      Refuse(at, "minLength", "it is more than maxLength");
    }
    if (!Has(*node, "pattern") || !(*node)["pattern"].is_string()) return;
    const auto held = HeldPattern((*node)["pattern"].get<std::string>());
    if (!held) Refuse(at, "pattern", "it has a part that is not a group, a class, a choice or a repetition");
    (*node)["pattern"] = *held;
  }

  void HoldFormat(ordered_json* node, const std::string& at) const {
    const ordered_json format = (*node)["format"];
    if (!format.is_string()) Refuse(at, "format");
    const auto name = format.get<std::string>();
    if (IsIn(name, {"date", "time", "date-time", "uuid"}) && !Has(*node, "pattern")) return;
    // OpenAPI's formats, which describe how a value is shown or stored.
    if (IsIn(name, {"password", "binary", "byte", "int32", "int64", "float", "double"})) {
      node->erase("format");
      return;
    }
    const auto* known = std::ranges::find_if(kFormats, [&](const Format& one) { return name == one.name; });
    if (known == std::end(kFormats) || Has(*node, "pattern")) Refuse(at, "format", name);
    node->erase("format");
    (*node)["pattern"] = known->pattern;
  }

  void HoldList(ordered_json* node, const std::string& at, size_t depth) {
    Narrow(node, "maxItems");
    for (const char* key : {"contains", "minContains", "maxContains"}) {
      if (Has(*node, key)) Refuse(at, key);
    }
    const auto number = [&](const char* key, double without) {
      return Has(*node, key) && (*node)[key].is_number() ? (*node)[key].get<double>() : without;
    };
    const double least = number("minItems", 0), most = number("maxItems", std::numeric_limits<double>::infinity());
    if (least > most) Refuse(at, "minItems", "it is more than maxItems");
    if (Has(*node, "uniqueItems") && (*node)["uniqueItems"] != false && most > 1) Refuse(at, "uniqueItems");
    const bool is_tuple = Has(*node, "prefixItems") || (Has(*node, "items") && (*node)["items"].is_array());
    if (!is_tuple) {
      if (Has(*node, "unevaluatedItems") && !Has(*node, "items")) Refuse(at, "unevaluatedItems");
      if (Has(*node, "items") && (*node)["items"] == false) return HoldEmptyList(node, least, at);
      if (Has(*node, "items")) Visit(&(*node)["items"], at + "/items", depth + 1);
      return;
    }
    // Allows as many elements as are described, each of them optional.
    const char* key = Has(*node, "prefixItems") ? "prefixItems" : "items";
    ordered_json& items = (*node)[key];
    if (!items.is_array()) Refuse(at, key, "expected a list of schemas");
    const auto n = static_cast<double>(items.size());
    if (least > n) Refuse(at, "minItems", fmt::format("next to {}", key));
    if (most < n) Refuse(at, "maxItems", fmt::format("next to {}", key));
    size_t i = 0;
    for (ordered_json& item : items) Visit(&item, fmt::format("{}/{}/{}", at, key, i++), depth + 1);
    if (std::string_view(key) == "prefixItems") node->erase("items");
  }

  void HoldEmptyList(ordered_json* node, double least, const std::string& at) const {
    if (least > 0) Refuse(at, "minItems", "next to items");
    node->erase("items");
    (*node)["maxItems"] = 0;
  }

  void HoldObject(ordered_json* node, const std::string& at, size_t depth) {
    for (const char* key :
         {"patternProperties", "propertyNames", "dependentRequired", "dependentSchemas", "dependencies"}) {
      if (Has(*node, key) && !(*node)[key].empty()) Refuse(at, key);
    }
    if (Has(*node, "unevaluatedProperties") && (*node)["unevaluatedProperties"] != false &&
        !Has(*node, "additionalProperties")) {
      (*node)["additionalProperties"] = (*node)["unevaluatedProperties"];
    } else if (Has(*node, "unevaluatedProperties") && !Has(*node, "properties") &&
               !Has(*node, "additionalProperties")) {
      (*node)["additionalProperties"] = false;
    }
    AddRequired(node, at);
    const size_t required = Has(*node, "required") ? (*node)["required"].size() : 0;
    const size_t known = Has(*node, "properties") ? (*node)["properties"].size() : 0;
    if (Has(*node, "minProperties") && (*node)["minProperties"] > required) Refuse(at, "minProperties");
    const bool has_more = Has(*node, "additionalProperties") ? (*node)["additionalProperties"] != false : known == 0;
    if (Has(*node, "maxProperties") && (has_more || (*node)["maxProperties"] < known)) Refuse(at, "maxProperties");
    VisitNamed(node, "properties", at, depth);
    if (!Has(*node, "additionalProperties") || (*node)["additionalProperties"].is_boolean()) return;
    Visit(&(*node)["additionalProperties"], at + "/additionalProperties", depth + 1);
  }

  // llama.cpp only knows required properties that "properties" describes.
  void AddRequired(ordered_json* node, const std::string& at) const {
    if (!Has(*node, "required")) return;
    if (!(*node)["required"].is_array()) Refuse(at, "required", "expected a list of names");
    const ordered_json more = node->value("additionalProperties", ordered_json(true));
    const ordered_json names = (*node)["required"];
    for (const ordered_json& name : names) {
      if (!name.is_string()) Refuse(at, "required", "expected a list of names");
      if (Has(*node, "properties") && (*node)["properties"].contains(name.get<std::string>())) continue;
      if (more == false) Refuse(at, "required", name.get<std::string>() + " is not one of the properties");
      (*node)["properties"][name.get<std::string>()] = more == true ? ordered_json::object() : more;
    }
  }

  void CheckDisjoint(const ordered_json& list, const std::string& at) {
    for (size_t i = 0; i < list.size(); ++i) {
      for (size_t j = 0; j < i; ++j) {
        Work(256);
        if (!AreDisjoint(given_, list[i], list[j])) {
          Refuse(at, "oneOf", "a value may match two of its schemas; use anyOf");
        }
      }
    }
  }

  const char* const key_;
  const ordered_json given_;
  uint64_t work_ = 0;
  std::set<std::string> visited_;
  std::vector<std::pair<std::string, std::string>> references_;
};

}  // namespace

std::string HeldSchema(const char* key, const std::string& schema) {
  auto root = ordered_json::parse(schema, nullptr, false);
  return root.is_discarded() ? schema : SchemaEnforcer(key, std::move(root)).Enforce();
}

std::string HeldTools(const std::string& text) {
  auto tools = ordered_json::parse(text, nullptr, false);
  if (!tools.is_array()) return text;
  for (ordered_json& tool : tools) {
    const ordered_json::json_pointer parameters("/function/parameters"), strict("/function/strict");
    if (!tool.is_object() || !tool.contains(parameters) || !tool[parameters].is_object()) continue;
    if (tool.contains(strict) && tool[strict] == false) continue;
    tool[parameters] = ordered_json::parse(SchemaEnforcer("tools", tool[parameters]).Enforce());
  }
  return tools.dump();
}

}  // namespace wasinn::llama
