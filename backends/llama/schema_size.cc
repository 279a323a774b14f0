#include "llama/schema_size.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "common/error.h"

namespace wasinn::llama {

using backend::Error;
using nlohmann::json;

namespace {

// Goes where llama.cpp's conversion goes, and counts what that has to do. It visits what a reference leads to once for
// each way to write that reference, but in an allOf each time, and without an end where that leads back to itself.
class SchemaCounter {
 public:
  // `work`: what was counted before.
  SchemaCounter(const char* key, const json& root, uint64_t* work) : key_(key), root_(root), work_(*work) {}

  void Count() {
    Visit(root_, {});
    while (!references_.empty()) {
      const auto [name, target] = std::move(references_.back());
      references_.pop_back();
      Visit(*target, {.name = "ref" + name});
    }
    // For each pattern llama.cpp copies all the rules that it has.
    AddTimes(Times(patterns_, nodes_), kRule);
  }

 private:
  // Work of 1 takes some 5 ns.
  static constexpr uint64_t kMostWork = 16 << 20, kVisit = 64, kCharacter = 16, kRange = 4096, kLookup = 8, kRule = 4;
  static constexpr size_t kDeepest = 128;

  // Where a part of the schema is: what its rules' names begin with, how often llama.cpp builds it, and how often it
  // makes each of its rules.
  struct Place {
    std::string name;
    uint64_t times = 1, makes = 1;
    size_t depth = 0;

    Place Inner(const std::string& more, uint64_t by = 1) const {
      return {.name = name.empty() ? more : name + '-' + more,
              .times = std::max<uint64_t>(Times(times, by), 1),
              .depth = depth + 1};
    }
  };

  // How often llama.cpp builds what lies below a schema with such types: once for each.
  struct Types {
    uint64_t all = 0, objects = 0, arrays = 0, strings = 0, integers = 0;
  };

  // No factor is large: what was counted, or what 64 KiB can say.
  static uint64_t Times(uint64_t a, uint64_t b) { return std::min<uint64_t>(a * b, UINT32_MAX); }
  void AddTimes(uint64_t a, uint64_t b) { Add(Times(a, b)); }

  void Add(uint64_t work) {
    work_ += work;
    if (work_ <= kMostWork) return;
    throw Error(WASINN_TOO_LARGE, std::string(key_) +
                                      ": an object has too many properties, or there are too many objects with many of "
                                      "them, or its parts are said too often");
  }

  void CheckDepth(size_t depth) const {
    if (depth <= kDeepest) return;
    throw Error(WASINN_INVALID_ARGUMENT, std::string(key_) + ": references in allOf lead in a circle, or too deep");
  }

  // Of an object with so many properties, each of which may be missing: a rule for what follows each, of the rest.
  void AddProperties(uint64_t n, uint64_t times) {
    constexpr uint64_t kSure = 1024;
    n = std::min(n, kSure);
    AddTimes(n * n * n, times);
  }

  // As llama.cpp does it: parts between slashes, without escapes. NULL: it says that there is no such thing.
  const json* Target(const json& reference) const {
    if (!reference.is_string()) return nullptr;
    const auto& text = reference.get_ref<const std::string&>();
    if (!text.starts_with("#/")) return nullptr;
    const json* at = &root_;
    for (size_t start = 2; start <= text.size() && at != nullptr;) {
      const size_t end = std::min(text.find('/', start), text.size());
      at = Child(*at, text.substr(start, end - start));
      start = end + 1;
    }
    return at;
  }

  static const json* Child(const json& node, const std::string& name) {
    if (node.is_object()) return node.contains(name) ? &node[name] : nullptr;
    const size_t index = std::strtoull(name.c_str(), nullptr, 10);
    return node.is_array() && index < node.size() ? &node[index] : nullptr;
  }

  static void CountType(const json& type, Types* types) {
    ++types->all;
    if (type.is_array()) {
      for (const json& one : type) CountType(one, types);
      return;
    }
    const bool any = type.is_null() || type == "";
    if (any || type == "object") ++types->objects;
    if (any || type == "array") ++types->arrays;
    if (any || type == "string") ++types->strings;
    if (type == "integer") ++types->integers;
  }

  void Visit(const json& node, const Place& place) {
    CheckDepth(place.depth);
    AddNodes(place, 1);
    AddName(place);
    if (!node.is_object()) return;  // llama.cpp says so
    if (node.contains("$ref")) return Refer(node["$ref"], place.times);
    for (const char* key : {"oneOf", "anyOf"}) {
      if (node.contains(key)) return VisitEach(node[key], place, "");
    }
    Types types;
    const json type = node.value("type", json());
    CountType(type, &types);
    // Each of many types is that of a copy of all of this.
    if (type.is_array()) {
      AddNodes(place, types.all);
      AddTimes(place.times, Times(types.all, node.dump().size()));
    }
    for (const char* key : {"const", "enum"}) {
      if (node.contains(key)) AddTimes(Times(place.times, types.all), node[key].dump().size() * kCharacter);
    }
    if (types.objects > 0) VisitObject(node, place, types.objects);
    if (node.contains("allOf")) VisitAllOf(node["allOf"], place, types.objects + types.strings);
    const char* items = node.contains("items") ? "items" : "prefixItems";
    if (types.arrays > 0 && node.contains(items)) VisitItems(node[items], place, types.arrays);
    if (types.strings > 0) AddPattern(node, place.name, Times(place.times, types.strings));
    if (node.contains("minimum") || node.contains("maximum") || node.contains("exclusiveMinimum") ||
        node.contains("exclusiveMaximum")) {
      AddTimes(place.times, types.integers * kRange);
    }
  }

  void AddNodes(const Place& place, uint64_t n) {
    n = Times(place.times, n);
    nodes_ += n;
    AddTimes(n, kVisit + place.name.size() * kCharacter);
  }

  void AddPattern(const json& node, const std::string& name, uint64_t times) {
    if (!node.contains("pattern")) return;
    patterns_ += times;
    AddTimes(times, node["pattern"].dump().size() * (kCharacter + name.size()));
  }

  // llama.cpp knows a reference by its text, and there are many texts for one target ("#/a/0", "#/a/00"). It forgets
  // that it was at a pattern if that is wrong.
  void Refer(const json& reference, uint64_t times) {
    const json* target = Target(reference);
    if (target == nullptr) return;
    const auto& text = reference.get_ref<const std::string&>();
    AddTimes(times, text.size() * kCharacter);
    if (target->is_object()) AddPattern(*target, text, times);
    if (known_.insert(text).second) references_.emplace_back(text.substr(1), target);
  }

  void VisitEach(const json& parts, const Place& place, const std::string& name, uint64_t by = 1) {
    if (!parts.is_array()) return;
    for (size_t i = 0; i < parts.size(); ++i) Visit(parts[i], place.Inner(name + std::to_string(i), by));
  }

  void VisitItems(const json& items, const Place& place, uint64_t times) {
    if (items.is_array()) return VisitEach(items, place, "tuple-", times);
    Visit(items, place.Inner("item", times));
  }

  void VisitObject(const json& node, const Place& place, uint64_t times) {
    if (node.contains("properties")) VisitProperties(node["properties"], place, times);
    if (node.contains("additionalProperties")) {
      Visit(node["additionalProperties"], place.Inner("additional-value", times));
    }
  }

  void VisitProperties(const json& properties, const Place& place, uint64_t times) {
    if (!properties.is_object()) return;
    AddProperties(properties.size(), Times(place.times, times));
    for (const auto& [name, property] : properties.items()) {
      Place inner = place.Inner(name, times);
      inner.makes = properties.size();
      Visit(property, inner);
    }
  }

  void VisitAllOf(const json& parts, const Place& place, uint64_t times) {
    if (times == 0) return;
    uint64_t properties = 0;
    const Place inner = place.Inner("", times);
    if (parts.is_array()) {
      for (const json& part : parts) {
        Visit(part, inner);
        Join(part, inner, &properties);
      }
    }
    AddProperties(properties, inner.times);
  }

  // A part of an allOf, whose properties become the whole's.
  void Join(const json& part, const Place& place, uint64_t* properties) {
    AddTimes(place.times, kVisit);
    CheckDepth(place.depth);
    const json* at = &part;
    for (size_t steps = 0; at != nullptr && at->is_object() && at->contains("$ref"); ++steps) {
      AddTimes(place.times, kVisit);
      if (steps > kDeepest) throw Error(WASINN_INVALID_ARGUMENT, std::string(key_) + ": references lead in a circle");
      at = Target((*at)["$ref"]);
    }
    if (at == nullptr || !at->is_object()) return;
    for (const char* key : {"oneOf", "anyOf"}) {
      if (!at->contains(key) || !(*at)[key].is_array()) continue;
      for (const json& one : (*at)[key]) Join(one, place.Inner(""), properties);
    }
    if (!at->contains("properties")) return;
    Types types;
    CountType(at->value("type", json()), &types);
    *properties += Times((*at)["properties"].size(), types.objects);
    // Those of the part itself are visited with it.
    if (at == &part) return;
    for (const auto& [name, property] : (*at)["properties"].items()) Visit(property, place.Inner(name, types.objects));
  }

  // llama.cpp turns all that is neither a letter nor a digit into hyphens, and numbers the rules whose names are then
  // the same: for each it tries all the numbers that are taken, also by names that have them by themselves.
  void AddName(const Place& place) {
    std::string name;
    for (const char c : place.name) {
      const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
      if (plain) {
        name += c;
      } else if (!name.ends_with('-')) {
        name += '-';
      }
    }
    const bool is_new = names_.insert(name).second;
    uint64_t& same = same_names_[WithoutEndings(name)];
    // Three rules of each name: the part's own, that of the property, and that of the properties behind it.
    constexpr uint64_t kRulesOfAName = 3, kCharacters = 64;
    if (!is_new) AddTimes(Times(place.makes, same * kRulesOfAName), kLookup * (1 + name.size() / kCharacters));
    ++same;
  }

  static std::string WithoutEndings(std::string name) {
    for (size_t before = name.size() + 1; name.size() < before;) {
      before = name.size();
      for (const char* ending : {"-kv", "-k", "-rest"}) {
        if (name.ends_with(ending)) name.resize(name.size() - std::strlen(ending));
      }
      while (!name.empty() && name.back() >= '0' && name.back() <= '9') name.pop_back();
    }
    return name;
  }

  const char* const key_;
  const json& root_;
  uint64_t& work_;
  uint64_t nodes_ = 0, patterns_ = 0;
  std::unordered_set<std::string> known_, names_;
  std::unordered_map<std::string, uint64_t> same_names_;
  std::vector<std::pair<std::string, const json*>> references_;
};

}  // namespace

void CheckSchemaSizes(const char* key, const std::vector<std::string>& schemas) {
  constexpr bool kThrow = false;
  uint64_t work = 0;
  for (const std::string& text : schemas) {
    const auto schema = json::parse(text, nullptr, kThrow);
    SchemaCounter(key, schema, &work).Count();
  }
}

}  // namespace wasinn::llama
