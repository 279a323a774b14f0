#include "serve/routes/handler_request.h"

#include <algorithm>
#include <iterator>
#include <string_view>

namespace wasinn::serve {
namespace {

std::string_view ViewOf(boost::beast::string_view text) { return {text.data(), text.size()}; }

// Also Host, which becomes the authority.
bool IsOfConnection(http::field name) {
  constexpr http::field kNames[] = {
      http::field::connection,       http::field::expect,  http::field::host,
      http::field::keep_alive,       http::field::te,      http::field::trailer,
      http::field::proxy_connection, http::field::upgrade, http::field::transfer_encoding};
  return std::ranges::find(kNames, name) != std::end(kNames);
}

}  // namespace

std::string AuthorityOf(const Header& request, const Ends& ends) {
  const std::string_view host = ViewOf(request[http::field::host]);
  if (!host.empty()) return std::string(host);
  const std::string address = ends.server.address().to_string();
  return (ends.server.address().is_v6() ? "[" + address + "]" : address) + ":" + std::to_string(ends.server.port());
}

Outcome<engines::HttpRequest> ToHttpRequest(const Header& request, std::string_view body, std::string_view authority,
                                            bool is_secure) {
  if (request.count(http::field::host) > 1) return std::unexpected(Invalid("two headers Host"));
  engines::HttpRequest its;
  its.method = ViewOf(request.method_string());
  its.scheme = is_secure ? "https" : "http";
  its.authority = authority;
  its.path_with_query = ViewOf(request.target());
  for (const auto& field : request) {
    if (!IsOfConnection(field.name())) its.fields.emplace_back(ViewOf(field.name_string()), ViewOf(field.value()));
  }
  its.body = body;
  return its;
}

}  // namespace wasinn::serve
