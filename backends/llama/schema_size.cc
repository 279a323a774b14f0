#include "llama/schema_size.h"

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <unordered_set>
#include <vector>

#include "common/error.h"

namespace wasinn::llama {

using backend::Error;

namespace {

// Goes where llama.cpp's conversion goes, and counts what that has to do. It visits what a reference leads to once, but
// in an allOf each time, and without an end where that leads back to itself.
class SchemaCounter {
 public:
  explicit SchemaCounter(const nlohmann::json& root) : root_(root) {}

  void Count() {
    Visit(root_, 0);
    for (size_t i = 0; i < references_.size(); ++i) Visit(*references_[i], 0);
  }

 private:
  static constexpr uint64_t kMostWork = 16 << 20, kVisit = 64;
  static constexpr size_t kDeepest = 128;

  void Add(uint64_t work) {
    work_ += work;
    if (work_ <= kMostWork) return;
    throw Error(WASINN_TOO_LARGE,
                "json-schema: an object has too many properties, or there are too many objects with many of them");
  }

  static void CheckDepth(size_t depth) {
    if (depth <= kDeepest) return;
    throw Error(WASINN_INVALID_ARGUMENT, "json-schema: references in allOf lead in a circle, or too deep");
  }

  // Of an object with so many properties, each of which may be missing: a rule for what follows each, of the rest.
  void AddProperties(uint64_t n) {
    constexpr uint64_t kSure = 1024;
    n = std::min(n, kSure);
    Add(n * n * n);
  }

  // As llama.cpp does it: parts between slashes, without escapes. NULL: it says that there is no such thing.
  const nlohmann::json* Target(const nlohmann::json& reference) const {
    if (!reference.is_string()) return nullptr;
    const auto& text = reference.get_ref<const std::string&>();
    if (!text.starts_with("#/")) return nullptr;
    const nlohmann::json* at = &root_;
    for (size_t start = 2; start <= text.size() && at != nullptr;) {
      const size_t end = std::min(text.find('/', start), text.size());
      at = Child(*at, text.substr(start, end - start));
      start = end + 1;
    }
    return at;
  }

  static const nlohmann::json* Child(const nlohmann::json& node, const std::string& name) {
    if (node.is_object()) return node.contains(name) ? &node[name] : nullptr;
    const size_t index = std::strtoull(name.c_str(), nullptr, 10);
    return node.is_array() && index < node.size() ? &node[index] : nullptr;
  }

  void Visit(const nlohmann::json& node, size_t depth) {
    Add(kVisit);
    CheckDepth(depth);
    if (!node.is_structured()) return;
    if (node.is_object() && node.contains("$ref")) {
      const nlohmann::json* target = Target(node["$ref"]);
      if (target != nullptr && known_.insert(target).second) references_.push_back(target);
      return;
    }
    if (node.is_object() && node.contains("properties")) AddProperties(node["properties"].size());
    if (node.is_object() && node.contains("allOf")) {
      uint64_t properties = 0;
      for (const auto& part : node["allOf"]) Join(part, depth + 1, &properties);
      AddProperties(properties);
    }
    for (const auto& part : node) Visit(part, depth + 1);
  }

  // A part of an allOf, whose properties become the whole's.
  void Join(const nlohmann::json& part, size_t depth, uint64_t* properties) {
    Add(kVisit);
    CheckDepth(depth);
    const nlohmann::json* at = &part;
    for (size_t steps = 0; at != nullptr && at->is_object() && at->contains("$ref"); ++steps) {
      Add(kVisit);
      if (steps > kDeepest) throw Error(WASINN_INVALID_ARGUMENT, "json-schema: references lead in a circle");
      at = Target((*at)["$ref"]);
    }
    if (at == nullptr || !at->is_object()) return;
    if (at->contains("anyOf")) {
      for (const auto& one : (*at)["anyOf"]) Join(one, depth + 1, properties);
    }
    if (!at->contains("properties")) return;
    *properties += (*at)["properties"].size();
    // Those of the part itself are visited with it.
    if (at == &part) return;
    for (const auto& property : (*at)["properties"]) Visit(property, depth + 1);
  }

  const nlohmann::json& root_;
  uint64_t work_ = 0;
  std::unordered_set<const nlohmann::json*> known_;
  std::vector<const nlohmann::json*> references_;
};

}  // namespace

void CheckSchemaSize(const std::string& text) {
  constexpr bool kThrow = false;
  const auto schema = nlohmann::json::parse(text, nullptr, kThrow);
  SchemaCounter(schema).Count();
}

}  // namespace wasinn::llama
