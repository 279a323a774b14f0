// Which pages of browsers may ask. A browser on somebody's machine also runs pages of strangers, and reaches servers that they do not.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>

#include "serve/http/http_server.h"

namespace wasinn::serve {

// "https://example.com:8443", or "*" for all, as a flag says it and a header has it: in lower case, without the scheme's own port.
Outcome<std::string> ParseOrigin(std::string_view text);

// Any thread.
class Origins {
 public:
  using Next = std::function<asio::awaitable<Response>(Exchange&)>;

  // `allowed`: of ParseOrigin.
  explicit Origins(std::set<std::string, std::less<>> allowed) : allowed_(std::move(allowed)) {}

  // Whether a page asks, and not any other client: then Guard answers.
  static bool IsOfPage(const Header& request) { return request.count(http::field::origin) > 0; }
  // What `next` answers, if this page may have it asked. One of another origin that is not allowed may only read, and its browser does not
  // show it what it reads.
  asio::awaitable<Response> Guard(Exchange& exchange, Next next) const;

  // Whether a browser asks what it may send, for a page that may.
  bool IsAllowedPreflight(const Header& request) const;

  // Whether the request's Host is a name that no stranger can have lead here: an address, this machine's own name, or that of an allowed
  // origin. A stranger's name that leads to this machine (DNS rebinding) makes a page look like one of this server's own.
  bool IsOwnHost(const Header& request) const;

 private:
  bool IsAllowed(std::string_view origin) const { return allowed_.contains("*") || allowed_.contains(origin); }

  const std::set<std::string, std::less<>> allowed_;
};

}  // namespace wasinn::serve
