// A request's target, in the one form by which routes, models, tenants, metrics and the access log know it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "serve/http/http_message.h"
#include "serve/oip/inference.h"

namespace wasinn::serve {

// The target with its path in the only spelling that is left: what needs no %XX has none, and the other ones are upper case. INVALID_ARGUMENT: it is
// no path, or one that could mean two things: a word is "." or "..", or empty before the end ("//"), or has an encoded "/", "\" or ".",
// or a control character, or is not UTF-8.
Outcome<std::string> CanonicalTarget(std::string_view target);

// The words of a canonical target's path, decoded, and none for a "/" at its end.
std::vector<std::string> PathWords(std::string_view target);

// The same as a path: "/a/b%20c/?d" is "/a/b c".
std::string PathOf(const Header& request);

}  // namespace wasinn::serve
