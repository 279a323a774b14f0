// What a guest behind a route says of its answer, in whatever way, held to what a server passes on.
#pragma once

#include <string>
#include <string_view>

#include "serve/http/http_message.h"

namespace wasinn::serve {

// Its functions throw a Failure for a guest's mistake, which is its text.
class GuestResponse {
 public:
  // A known one, from 200 on.
  void SetStatus(unsigned code);
  // A header. Those of the connection, and the length, are the server's: they are left out.
  void Add(std::string_view name, std::string_view value);

  bool has_status() const { return has_status_; }
  bool has_type() const { return has_type_; }
  bool has_location() const { return has_location_; }
  // Whether its body is one of events, which clients want as they come.
  bool has_events() const;

  // Without the charge. A body that the status does not allow is left out.
  Response Take(std::string body);

 private:
  Response response_{.content_type = ""};
  bool has_status_ = false, has_type_ = false, has_location_ = false;
};

}  // namespace wasinn::serve
