#include "serve/routes/route_flags.h"

#include <fmt/format.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <sstream>
#include <string>
#include <string_view>
#include <utility>

#include "base/number.h"
#include "cli/flags.h"
#include "cli/surroundings.h"
#include "engines/trusted_file.h"
#include "serve/http/ports.h"
#include "serve/server.h"
#include "settings/quantities.h"

namespace wasinn::serve {
namespace {

using settings::Parsed;

constexpr char kRoot[] = "/";
constexpr char kGroup[] = "Guests behind paths";

struct Listen {
  std::string host;
  uint16_t port = 0;
};

// 0.0.0.0:8080, [::1]:8080
Parsed<Listen> ParseListen(const std::string& text) {
  const size_t colon = text.rfind(':');
  Listen listen{text.substr(0, colon), 0};
  if (listen.host.starts_with('[') && listen.host.ends_with(']')) listen.host = listen.host.substr(1, colon - 2);
  const std::string_view port = colon == text.npos ? std::string_view() : std::string_view(text).substr(colon + 1);
  const auto number = base::ParseNumber<uint16_t>(port);
  listen.port = number.value_or(0);
  if (number && Try([&] { return ParseAddress(listen.host); })) return listen;
  return std::unexpected("'" + text + "' is not ADDRESS:PORT, such as 127.0.0.1:8080 or [::1]:8080");
}

// /PATH=VALUE; `parse` reads the value.
template <typename T>
auto OfRoute(const char* form, Parsed<T> (*parse)(const std::string&)) {
  return [form, parse](const std::string& text) -> Parsed<std::pair<std::string, T>> {
    const size_t equals = text.find('=');
    if (equals == text.npos) return std::unexpected(fmt::format("'{}' is not {}", text, form));
    Parsed<T> parsed = parse(text.substr(equals + 1));
    if (!parsed) return std::unexpected(std::move(parsed.error()));
    return std::pair(text.substr(0, equals), std::move(*parsed));
  };
}

// 1000, 1000,16, 1000,16,5s
Parsed<Reuse> ParseReuse(const std::string& text) {
  Reuse reuse;
  std::istringstream words(text);
  std::string requests, at_once, idle;
  std::getline(std::getline(std::getline(words, requests, ','), at_once, ','), idle);
  reuse.requests = base::ParseNumber<uint32_t>(requests).value_or(0);
  if (!at_once.empty()) reuse.at_once = base::ParseNumber<uint32_t>(at_once).value_or(0);
  const auto time = idle.empty() ? 1000 : settings::ParseDuration(idle).value_or(0);
  reuse.idle = std::chrono::milliseconds(time);
  if (reuse.requests > 0 && reuse.at_once > 0 && time > 0 && reuse.HasEffect()) return reuse;
  return std::unexpected("'" + text + "' is not REQUESTS[,CONCURRENT[,IDLE]], such as 1000 or 1000,16,5s");
}

Parsed<std::string> AnyFile(const std::string& text) { return text; }
Parsed<engines::Directory> WorkingFolders(const std::string& text) { return cli::ParseServedDirectory(text); }

constexpr char kRouteForm[] = "/PATH=FILE", kDirForm[] = "/PATH=HOST[::GUEST][:rw]", kEnvForm[] = "/PATH=NAME[=VALUE]",
               kReuseForm[] = "/PATH=REQUESTS[,CONCURRENT[,IDLE]]";

void AddRoutes(CLI::App& app, ServeOptions* options) {
  using File = std::pair<std::string, std::string>;
  cli::AddParsed<File>(
      app, "--route", OfRoute<std::string>(kRouteForm, AnyFile),
      [options](const File& route) { options->routes[route.first].file = route.second; },
      "Let a guest answer requests to a path and below it: a program by the rules of CGI,\n"
      "or a component that exports wasi:http/handler or wasi:http/incoming-handler")
      ->type_name(kRouteForm)
      ->group(kGroup);
  using Folder = std::pair<std::string, engines::Directory>;
  cli::AddParsed<Folder>(
      app, "--route-dir", OfRoute<engines::Directory>(kDirForm, WorkingFolders),
      [options](const Folder& one) { options->routes[one.first].directories.push_back(one.second); },
      "A folder that the guest of a route may read; :rw: it may write there, too")
      ->type_name(kDirForm)
      ->group(kGroup);
  using Set = std::pair<std::string, cli::Variable>;
  cli::AddParsed<Set>(
      app, "--route-env", OfRoute<cli::Variable>(kEnvForm, cli::ParseEnvironment),
      [options](const Set& one) { options->routes[one.first].env[one.second.first] = one.second.second; },
      "An environment variable of a route's guest; without VALUE, this environment's value")
      ->type_name(kEnvForm)
      ->group(kGroup);
  using Reused = std::pair<std::string, Reuse>;
  cli::AddParsed<Reused>(
      app, "--route-reuse", OfRoute<Reuse>(kReuseForm, ParseReuse),
      [options](const Reused& one) { options->routes[one.first].reuse = one.second; },
      "How many requests of one tenant each instance of a route's component answers (1), how\n"
      "many at once (1), and how long it waits for the next one (1s)")
      ->type_name(kReuseForm)
      ->group(kGroup);
}

// As for `wasmtime serve`. It replaces a route / of the file, like --route.
void AddProgram(CLI::App& app, ServeOptions* options) {
  const CLI::Option* const route = app.get_option("--route");
  const auto take = [options, route](const std::string& file) {
    for (const std::string& one : route->results()) {
      if (one.starts_with("/="))
        throw CLI::ValidationError("FILE", "--route /=… is given, too, and / can have only one guest");
    }
    options->routes[kRoot].file = file;
  };
  CLI::Option* const program =
      app.add_option_function<std::string>("FILE", take, "The guest of /: what --route /=FILE says, as for wasmtime")
          ->option_text("");
  cli::AddParsed<engines::Directory>(
      app, "--dir", WorkingFolders,
      [options](auto directory) { options->routes[kRoot].directories.push_back(std::move(directory)); },
      "A folder that FILE may read; :rw: it may write there, too")
      ->type_name("HOST[::GUEST][:rw]")
      ->group(kGroup)
      ->needs(program);
  cli::AddParsed<cli::Variable>(
      app, "--env", cli::ParseEnvironment,
      [options](const cli::Variable& one) { options->routes[kRoot].env[one.first] = one.second; },
      "An environment variable of FILE; without VALUE, this environment's value")
      ->type_name("NAME[=VALUE]")
      ->group(kGroup)
      ->needs(program);
}

// -S: grants besides models.
void Grant(ServeOptions& options, bool has_program) {
  const cli::HostFlags& flags = options.host_flags;
  if (flags.Grants("inherit-network")) {
    ThrowInvalid(
        "-S inherit-network: guests that answer requests get no sockets; --allow-outbound lets them send requests");
  }
  if (!flags.Grants("inherit-env")) return;
  if (!has_program) ThrowInvalid("-S inherit-env is for FILE, and none is given");
  for (char** ours = environ; *ours != nullptr; ++ours) {
    const std::string_view text = *ours;
    const size_t equals = text.find('=');
    if (equals != text.npos) options.routes[kRoot].env.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
}

}  // namespace

void AddAddressFlag(CLI::App& app, ServeOptions* options) {
  cli::AddParsed<Listen>(
      app, "--addr", ParseListen,
      [options](const Listen& listen) {
        options->host = listen.host;
        options->http_port = listen.port;
        options->grpc_port.reset();
        options->has_metrics = false;
      },
      "HTTP there, and no other port unless a flag names it, as for wasmtime")
      ->type_name("ADDRESS:PORT");
}

void AddRouteFlags(CLI::App& app, ServeOptions* options) {
  options->host_flags.grants_help = "for FILE, inherit-env: with this environment; http: nothing more";
  AddRoutes(app, options);
  AddProgram(app, options);
}

void CheckRoutes(ServeOptions& options, bool has_program) {
  Grant(options, has_program);
  for (const auto& [path, route] : options.routes) {
    if (route.file.empty()) ThrowInvalid("there is no route '{}': --route {}=FILE makes it", path, path);
  }
  const std::string& log = options.access_log;
  if (log.empty() || log == "-") return;
  const auto folder = engines::FolderOfGuestsThatHas(log, FoldersOf(options.routes));
  if (folder) ThrowInvalid("the access log '{}' is in {}, where a guest may write", log, *folder);
}

}  // namespace wasinn::serve
