// A request's body, parsed as a whole first, so that nothing is read of a text that is none.
#pragma once

#include <simdjson.h>

#include <new>
#include <string>
#include <string_view>

#include "serve/http/request_body.h"
#include "serve/openai/errors.h"

namespace wasinn::serve::openai {

static_assert(RequestBytes::kPadding >= simdjson::SIMDJSON_PADDING);

// What `read` makes of it, which keeps nothing of the element. Throws ApiError, as `read` does.
template <typename T>
T ReadBody(RequestBytes& body, T (*read)(simdjson::dom::element)) {
  // Bytes for each of the JSON's: what simdjson takes to parse it, and a copy.
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
    throw ApiError{.message = std::string("the body is no JSON that can be read: ") + error.what()};
  }
}

}  // namespace wasinn::serve::openai
