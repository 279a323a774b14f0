// The fields of a request; each is read once. Fields that were never read are ignored, and logged once; with --strict
// they are errors.
#pragma once

#include <simdjson.h>

#include <initializer_list>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "serve/openai/errors.h"
#include "serve/tenants/memory_budget.h"

namespace wasinn::serve::openai {

static_assert(RequestBytes::kPadding >= simdjson::SIMDJSON_PADDING);

// Parses a whole body before it is read, so that no part of invalid JSON is used. Returns the result of `read`, which must not keep the element. Throws ApiError, like `read`.
template <typename T>
T ReadBody(RequestBytes& body, T (*read)(simdjson::dom::element)) {
  // Memory for each byte of JSON: for simdjson's parser, and for a copy.
  constexpr uint64_t kParsed = 14, kCopied = 2;
  Charge& charge = body.charge();
  const uint64_t before = charge.bytes();
  if (!charge.Add((kParsed + kCopied) * body.size())) throw ToApiError(NoMemory());
  try {
    simdjson::dom::parser parser;
    const std::string_view text = body.view();
    T made = read(parser.parse(text.data(), text.size(), false));
    charge.ShrinkTo(before);
    return made;
  } catch (const simdjson::simdjson_error& error) {
    if (error.error() == simdjson::MEMALLOC) throw std::bad_alloc();
    throw ApiError{.message = std::string("the body is not valid JSON: ") + error.what()};
  }
}

// Throws ApiError. Refers to the element, which must outlive it. A null field counts as missing.
class Fields {
 public:
  // --strict. Set before the first request, and not changed later.
  static inline bool is_strict = false;

  // `place`: this object's place in the request, for messages; "": the request itself.
  explicit Fields(simdjson::dom::element object, std::string place = "");

  // `name`: a literal, like in the functions below.
  std::optional<simdjson::dom::element> Find(std::string_view name);
  std::optional<std::string> Text(std::string_view name);
  std::optional<bool> Flag(std::string_view name);
  std::optional<double> Number(std::string_view name, double least, double most);
  std::optional<int64_t> Integer(std::string_view name, int64_t least, int64_t most);
  std::optional<Fields> Object(std::string_view name);
  // The value as JSON.
  std::optional<std::string> Json(std::string_view name);
  simdjson::dom::element Get(std::string_view name);

  // Accepts these fields without effect.
  void Ignore(std::initializer_list<std::string_view> names);
  // Refuses these fields, which would change the answer, unless their values are the defaults.
  void Refuse(std::initializer_list<std::string_view> names);
  // Adds an object's members as fields, unless fields of the same name exist.
  void Join(std::string_view name);
  // Logs fields that were never read. `api`: whose requests these are, for the log.
  void IgnoreOthers(const char* api);
  // The same for /v1; throws with --strict.
  void CheckAllRead();

  // A field's name for messages.
  std::string NameOf(std::string_view field) const;

 private:
  // The same, for a field that messages do not suggest.
  std::optional<simdjson::dom::element> Take(std::string_view name);

  std::vector<std::pair<std::string_view, simdjson::dom::element>> left_;
  std::vector<std::string_view> known_;  // literals, so they outlive this object
  std::string place_;
};

// The value as JSON, without null members, which count as missing. A value under an `opaque` name is not changed.
std::string WithoutNulls(simdjson::dom::element element, std::initializer_list<std::string_view> opaque);

// The value as JSON.
std::string ToText(simdjson::dom::element element);
// Whether it is false, null, or an empty text, list or object.
bool IsNothing(simdjson::dom::element element);
// Whether it is a non-empty list of integers.
bool IsTokens(simdjson::dom::element element);

}  // namespace wasinn::serve::openai
