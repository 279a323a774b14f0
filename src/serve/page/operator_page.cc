#include "serve/page/operator_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "serve/page/page_files.h"

namespace wasinn::serve {
namespace {

constexpr std::string_view kFolder = "/wasinn/";

std::string_view PathAlone(const Header& request) {
  const std::string_view target(request.target().data(), request.target().size());
  return target.substr(0, target.find('?'));
}

const char* TypeOf(std::string_view name) {
  if (name.ends_with(".html")) return "text/html; charset=utf-8";
  if (name.ends_with(".css")) return "text/css; charset=utf-8";
  if (name.ends_with(".svg")) return "image/svg+xml";
  return "text/javascript; charset=utf-8";
}

// The page loads and sends nothing elsewhere, whatever a model's name contains.
void Guard(Response& response) {
  constexpr std::pair<const char*, const char*> kHeaders[] = {
      {"Content-Security-Policy",
       "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; "
       "form-action 'none'; frame-ancestors 'none'"},
      {"X-Content-Type-Options", "nosniff"},
      {"X-Frame-Options", "DENY"},
      {"Referrer-Policy", "no-referrer"},
      {"Cross-Origin-Resource-Policy", "same-origin"},
      {"Cache-Control", "no-store"}};
  for (const auto& [name, value] : kHeaders) response.headers.emplace_back(name, value);
}

}  // namespace

bool OperatorPage::Has(const Header& request, bool has_root) const {
  const std::string_view path = PathAlone(request);
  return path.starts_with(kFolder) || (has_root && path == "/");
}

bool OperatorPage::IsState(const Header& request) { return PathAlone(request) == "/wasinn/state"; }

Response OperatorPage::Find(const Exchange& exchange) {
  const Header& request = exchange.request;
  if (!origins_.IsOwnHost(request)) {
    return ErrorResponse(http::status::forbidden,
                         "the page is not shown under this name, which a stranger may have led here: --allow-origin "
                         "http://NAME:PORT names it");
  }
  if (request.method() != http::verb::get && request.method() != http::verb::head) {
    Response response = ErrorResponse(http::status::method_not_allowed, "only GET is known here");
    response.headers = {{"Allow", "GET"}};
    return response;
  }
  const std::string_view path = PathAlone(request);
  std::string_view name = path == "/" ? "" : path.substr(kFolder.size());
  if (IsState(request)) {
    const Tenant& tenant = *exchange.admission.tenant;
    return tenant.is_operator() ? state_.Answer(*exchange.admission.generation, tenant) : ToResponse(ForOperators());
  }
  if (name.empty()) name = "index.html";
  const auto file = std::ranges::find(PageFiles(), name, &PageFile::name);
  if (file == PageFiles().end()) return ErrorResponse(http::status::not_found, "there is nothing of this name");
  return {.content_type = TypeOf(name), .text = std::string(file->bytes)};
}

Response OperatorPage::Answer(const Exchange& exchange) {
  Response response = Find(exchange);
  Guard(response);
  return response;
}

}  // namespace wasinn::serve
