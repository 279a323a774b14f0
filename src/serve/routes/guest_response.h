// The answer of a guest behind a route, limited to what a server passes on.
#pragma once

#include <string>
#include <string_view>

#include "serve/http/http_message.h"

namespace wasinn::serve {

// Its functions throw a Failure with the guest's error.
class GuestResponse {
 public:
  // A known status, from 200 on.
  void SetStatus(unsigned code);
  // Adds a header. Those of the connection, and the length, belong to the server: they are dropped.
  void Add(std::string_view name, std::string_view value);

  bool has_status() const { return has_status_; }
  bool has_type() const { return has_type_; }
  bool has_location() const { return has_location_; }
  // Whether its body is a stream of events, which clients need as they come.
  bool has_events() const;

  // Without the charge. A body that the status does not allow is dropped.
  Response Take(std::string body);

 private:
  Response response_{.content_type = ""};
  bool has_status_ = false, has_type_ = false, has_location_ = false;
};

}  // namespace wasinn::serve
