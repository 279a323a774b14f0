// Parses a whole body before it is read, so that no part of invalid JSON is used.
#pragma once

#include <simdjson.h>

#include <new>
#include <string>
#include <string_view>

#include "serve/http/request_body.h"
#include "serve/openai/errors.h"

namespace wasinn::serve::openai {

static_assert(RequestBytes::kPadding >= simdjson::SIMDJSON_PADDING);

// Returns the result of `read`, which must not keep the element. Throws ApiError, like `read`.
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

}  // namespace wasinn::serve::openai
