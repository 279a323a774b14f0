// Fields of requests that have no effect here: clients send them to any kind of server.
#pragma once

#include <string>
#include <string_view>

namespace wasinn::serve {

// Logs that a field is ignored: once for each, for the first 256. `api`: the field's API; `place`: the text before the
// field's name, such as "inputs."; `field`: the client's word, of which the log has the beginning.
void LogIgnored(std::string_view api, std::string_view place, std::string_view field);
// The same for a line about any other ignored part of a request. The line is bounded.
void LogOnce(std::string line);

}  // namespace wasinn::serve
