#include "remote/json_names.h"

#include <algorithm>

#include "base/json.h"

namespace wasinn::remote {

namespace {

char Folded(char c) { return static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c); }

// "$ref", "$dynamicRef" and similar keys; references within the schema begin with '#'.
class References final : public NamedTexts {
 public:
  References() : NamedTexts(static_cast<size_t>(base::kDeepestJson)) {}

 private:
  bool IsName(std::string_view name) const override { return name.starts_with('$') && EndsInName(name, "ref"); }
  bool OnText(std::string_view text, bool is_named) override { return !is_named || text.starts_with('#'); }
};

}  // namespace

bool EndsInName(std::string_view text, std::string_view end) {
  return text.size() >= end.size() &&
         std::ranges::equal(text.substr(text.size() - end.size()), end, {}, Folded, Folded);
}

bool NamedTexts::string(string_t& value) {
  const Place& place = places_.back();
  return OnValue() && (!(place.is_named || place.is_below) || OnText(value, place.is_named));
}

bool NamedTexts::key(string_t& name) {
  places_.back().is_named = IsName(name);
  return true;
}

bool NamedTexts::Open(bool is_named) {
  if (!OnValue()) return false;
  const Place& outer = places_.back();
  places_.push_back({is_named, outer.is_named || outer.is_below});
  return depth() <= most_depth_;
}

bool NamedTexts::Close() {
  places_.pop_back();
  return true;
}

bool RefersElsewhere(std::string_view text) { return !References().Read(text); }

}  // namespace wasinn::remote
