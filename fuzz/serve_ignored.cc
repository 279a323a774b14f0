// A fuzzer has no log.
#include "serve/log.h"

namespace wasinn::serve {

void LogIgnored(std::string_view, std::string_view, std::string_view) {}

}  // namespace wasinn::serve
