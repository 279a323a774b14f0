// The fields of a request: each is read once. What nobody has read at the end is another server's: it is ignored, and the log names it once;
// with --strict it is wrong.
#pragma once

#include <simdjson.h>

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "serve/openai/errors.h"

namespace wasinn::serve::openai {

// What it throws: ApiError. The element that it is made of outlives it. A field that is null is as one that is not there.
class Fields {
 public:
  // --strict. The server sets it before the first request, and nobody later.
  static inline bool is_strict = false;

  // `place`: where this object is in the request, as errors tell it; "": it is the request.
  explicit Fields(simdjson::dom::element object, std::string place = "");

  // `name`: a literal, here and in what follows.
  std::optional<simdjson::dom::element> Find(std::string_view name);
  std::optional<std::string> Text(std::string_view name);
  std::optional<bool> Flag(std::string_view name);
  std::optional<double> Number(std::string_view name, double least, double most);
  std::optional<int64_t> Integer(std::string_view name, int64_t least, int64_t most);
  std::optional<Fields> Object(std::string_view name);
  // As JSON has it.
  std::optional<std::string> Json(std::string_view name);
  simdjson::dom::element Get(std::string_view name);

  // Nothing changes with these.
  void Ignore(std::initializer_list<std::string_view> names);
  // These would change the answer, and nobody here knows how: wrong, unless they say what is so in any case.
  void Refuse(std::initializer_list<std::string_view> names);
  // The members of an object become fields of this one, if these are not there.
  void Join(std::string_view name);
  // What nobody has read is ignored, and the log names it. `api`: whose requests these are, there.
  void IgnoreOthers(const char* api);
  // The same of /v1, or an error if it is strict.
  void CheckAllRead();

  // A field's name, as errors tell it.
  std::string NameOf(std::string_view field) const;

 private:
  // Likewise, but for a field that no error proposes.
  std::optional<simdjson::dom::element> Take(std::string_view name);

  std::vector<std::pair<std::string_view, simdjson::dom::element>> left_;
  std::vector<std::string_view> known_;  // literals, so they are there until the end
  std::string place_;
};

// As JSON has it, without members that are null: these are as if they were not there. A value under an `opaque` name stays as
// it is.
std::string WithoutNulls(simdjson::dom::element element, std::initializer_list<std::string_view> opaque);

// As JSON has it.
std::string ToText(simdjson::dom::element element);
// False and null, and texts, lists and objects of nothing.
bool IsNothing(simdjson::dom::element element);
// Whether it is a list of integers, and has one.
bool IsTokens(simdjson::dom::element element);

}  // namespace wasinn::serve::openai
