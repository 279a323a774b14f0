// A fuzzer has no log, so it is told of no field that is ignored.
#include "serve/ignored_fields.h"

namespace wasinn::serve {

void TellIgnored(std::string_view, std::string_view, std::string_view) {}

}  // namespace wasinn::serve
