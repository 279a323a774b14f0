// Fields of requests that nothing here depends on: clients send them to whatever server there is.
#pragma once

#include <string>
#include <string_view>

namespace wasinn::serve {

// Says in the log that a field is ignored: once for each, of the first 256. `api`: whose; `place`: what stands before the field's name
// there, such as "inputs."; `field`: a client's word, of which the log has the beginning.
void LogIgnored(std::string_view api, std::string_view place, std::string_view field);
// A line about anything else of a request that is left out, likewise. The line is bounded.
void LogOnce(std::string line);

}  // namespace wasinn::serve
