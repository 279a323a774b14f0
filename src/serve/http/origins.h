// The pages of browsers that may send requests. A browser runs pages of any site, and reaches servers that the site
// does not.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>

#include "serve/http/http_server.h"

namespace wasinn::serve {

// "https://example.com:8443", or "*" for all, in a flag or a header: in lower case, without the scheme's own port.
std::string ParseOrigin(std::string_view text);

// Thread-safe.
class Origins {
 public:
  using Next = std::function<asio::awaitable<Response>(Exchange&)>;

  // `allowed`: results of ParseOrigin.
  explicit Origins(std::set<std::string, std::less<>> allowed) : allowed_(std::move(allowed)) {}

  // Whether the client is a page: then Guard answers.
  static bool IsOfPage(const Header& request) { return request.count(http::field::origin) > 0; }
  // The answer of `next`, if this page may send the request. A page of another origin that is not allowed can only
  // read, and its browser does not show it the answer.
  asio::awaitable<Response> Guard(Exchange& exchange, Next next) const;

  // Whether a browser asks for permission, for an allowed page.
  bool IsAllowedPreflight(const Header& request) const;

  // Whether the request's Host is a name that no attacker can point here: an address, this machine's name, or an
  // allowed origin's. Another name that leads here (DNS rebinding) makes a page look like this server's own.
  bool IsOwnHost(const Header& request) const;

 private:
  bool IsAllowed(std::string_view origin) const { return allowed_.contains("*") || allowed_.contains(origin); }

  const std::set<std::string, std::less<>> allowed_;
};

}  // namespace wasinn::serve
