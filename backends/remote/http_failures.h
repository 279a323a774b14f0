// Messages for failed HTTP connections.
#pragma once

#include <boost/system/error_code.hpp>
#include <cstdint>
#include <string>

namespace wasinn::remote {

// A failed connect. `verify_result` is OpenSSL's, of a certificate that should be for `name`.
std::string WordsOfConnect(const boost::system::error_code& error, int64_t verify_result, const std::string& name);

// A failed exchange on an established connection.
struct FailedExchange {
  boost::system::error_code error;
  bool is_secure = false;
  bool has_answered = false;  // earlier, on the same connection
};
// Whether the server sent bytes that are not HTTP.
bool IsNoHttp(const boost::system::error_code& error);
std::string WordsOfExchange(const FailedExchange& failed);

}  // namespace wasinn::remote
