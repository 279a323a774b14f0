// Fields that other servers have.
#pragma once

#include <simdjson.h>

#include <string_view>

namespace wasinn::serve::openai {

// The meaning here of another server's field. Clients send them to whatever server there is.
enum class Foreign {
  kUnknown,     // no server's that we know of
  kMoot,        // nothing changes with it, or not with this value
  kUnsupported  // with this value it would change the answer
};
Foreign ForeignField(std::string_view name, simdjson::dom::element value);

}  // namespace wasinn::serve::openai
