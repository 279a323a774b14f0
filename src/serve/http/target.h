// A request's target in its canonical form, for routes, models, tenants, metrics and the access log.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "serve/http/http_message.h"
#include "serve/oip/inference.h"

namespace wasinn::serve {

// The target with its path in its only spelling: %XX only if necessary, and in upper case. INVALID_ARGUMENT: it is no
// path, or is ambiguous: a word is "." or "..", or empty before the end ("//"), or has an encoded "/", "\" or ".", or a
// control character, or is not UTF-8.
std::string CanonicalTarget(std::string_view target);

// A target without its query.
inline std::string_view PathAlone(std::string_view target) { return target.substr(0, target.find('?')); }

// The words of a canonical target's path, decoded, and none for a "/" at its end.
std::vector<std::string> PathWords(std::string_view target);

// The same as a path: "/a/b%20c/?d" is "/a/b c".
std::string PathOf(const Header& request);

}  // namespace wasinn::serve
