// What is said of connections of HTTP that fail.
#pragma once

#include <boost/system/error_code.hpp>
#include <cstdint>
#include <string>

namespace wasinn::remote {

// Of one that was not made. `verify_result` is OpenSSL's, of a certificate that should be for `name`.
std::string WordsOfConnect(const boost::system::error_code& error, int64_t verify_result, const std::string& name);

// Of one that was made, within an exchange.
struct FailedExchange {
  boost::system::error_code error;
  bool is_secure = false;
  bool has_answered = false;  // the same connection, before
};
// Whether the server said something, and it is not HTTP.
bool IsNoHttp(const boost::system::error_code& error);
std::string WordsOfExchange(const FailedExchange& failed);

}  // namespace wasinn::remote
