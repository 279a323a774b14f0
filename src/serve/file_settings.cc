#include "serve/file_settings.h"

#include <fmt/format.h>
#include <sodium.h>
#include <toml++/toml.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>
#include <utility>

#include "artifacts/reference.h"
#include "cli/surroundings.h"
#include "serve/http/origins.h"
#include "serve/server.h"

namespace wasinn::serve {
namespace {

constexpr std::string_view kDigestPrefix = "sha256:";
constexpr char kKeys[] = "an array of one or more keys' digests, \"sha256:\" and 64 hexadecimal digits each";

std::string TomlText(const toml::table& table) {
  std::ostringstream text;
  text << toml::toml_formatter(table);
  return text.str();
}

std::string JsonText(const toml::table& table) {
  std::ostringstream text;
  text << toml::json_formatter(table);
  return text.str();
}

[[noreturn]] void ThrowWrong(const std::string& key, const char* expected) {
  ThrowInvalid("configuration key '{}' must be {}", key, expected);
}

// One table, whose keys the core has checked. A reader does not change `out` if its key is missing.
class Section {
 public:
  // `folder`: for relative paths.
  Section(toml::node_view<const toml::node> table, const std::filesystem::path& folder)
      : table_(table), folder_(folder) {}

  template <typename T>
  void Integer(const char* key, T& out) const {
    if (const auto value = table_[key].value<int64_t>()) out = T(*value);
  }
  void Boolean(const char* key, bool& out) const { out = table_[key].value_or(out); }
  void String(const char* key, auto& out) const {
    if (auto value = table_[key].value<std::string>()) out = std::move(*value);
  }
  void Path(const char* key, std::string& out) const {
    const std::string given = table_[key].value_or(std::string());
    if (!given.empty()) out = artifacts::IsReference(given) ? given : (folder_ / given).lexically_normal().string();
  }
  std::vector<std::string> Strings(const char* key) const {
    std::vector<std::string> strings;
    if (const toml::array* array = table_[key].as_array()) {
      for (const toml::node& one : *array) strings.push_back(one.value_or(std::string()));
    }
    return strings;
  }
  Section In(const char* key) const { return {table_[key], folder_}; }
  // Calls `use` with each name and its table.
  template <typename Use>
  void EachTable(const Use& use) const {
    const toml::table* table = table_.as_table();
    if (table == nullptr) return;
    for (const auto& [name, inner] : *table) use(std::string(name.str()), Section(toml::node_view(inner), folder_));
  }
  const toml::table* table() const { return table_.as_table(); }

 private:
  toml::node_view<const toml::node> table_;
  const std::filesystem::path& folder_;
};

// As for the flags.
void CheckTls(const TlsFiles& tls) {
  const auto check = [&](const std::string& file, const char* key, const std::string& needed, const char* needed_key) {
    if (file.empty() || !needed.empty()) return;
    ThrowInvalid("configuration key 'serve.{}' needs 'serve.{}'", key, needed_key);
  };
  check(tls.certificate, "tls_cert", tls.key, "tls_key");
  check(tls.key, "tls_key", tls.certificate, "tls_cert");
  check(tls.client_ca, "tls_client_ca", tls.certificate, "tls_cert");
}

void ReadRepository(const Section& section, RepositorySettings& repository) {
  std::string control;
  section.String("model_control_mode", control);
  if (!control.empty()) {
    const auto mode = ParseControl(control);
    if (!mode) ThrowInvalid("configuration key 'serve.model_control_mode': {}", mode.error());
    repository.control = *mode;
  }
  for (const std::string& name : section.Strings("load_models")) repository.load_models.insert(name);
  section.Integer("poll_s", repository.poll);
  section.Integer("max_loaded", repository.max_loaded);
  int64_t idle = 0;
  section.Integer("idle_unload_s", idle);
  if (idle > 0) repository.idle_unload = std::chrono::seconds(idle);
}

void ReadServe(const Section& section, ServeOptions& options) {
  section.String("host", options.host);
  section.Integer("http_port", options.http_port);
  section.Integer("grpc_port", options.grpc_port);
  section.Integer("grpc_keepalive_time_ms", options.grpc_keepalive.time);
  section.Integer("grpc_keepalive_timeout_ms", options.grpc_keepalive.timeout);
  section.Integer("grpc_min_recv_ping_interval_ms", options.grpc_keepalive.least_between_pings);
  section.Integer("grpc_max_connection_age_ms", options.grpc_keepalive.age);
  section.Integer("grpc_max_connection_age_grace_ms", options.grpc_keepalive.age_grace);
  section.Integer("metrics_port", options.metrics_port);
  section.Boolean("metrics", options.has_metrics);
  section.Boolean("http_metrics", options.has_http_metrics);
  section.Boolean("metric_aliases", options.has_metric_aliases);
  section.Integer("max_body_bytes", options.max_body_bytes);
  section.Integer("max_json_bytes", options.max_json_bytes);
  section.Integer("max_bytes_in_flight", options.max_memory_in_flight);
  section.Integer("max_connections", options.max_connections);
  section.Integer("max_waiting", options.max_waiting);
  section.Integer("wait_timeout_ms", options.wait_timeout);
  section.Integer("idle_timeout_ms", options.idle_timeout);
  section.Integer("client_timeout_ms", options.client_timeout);
  section.Path("tls_cert", options.tls.certificate);
  section.Path("tls_key", options.tls.key);
  section.Path("tls_client_ca", options.tls.client_ca);
  std::string log;
  section.String("access_log", log);
  log == "-" ? section.String("access_log", options.access_log) : section.Path("access_log", options.access_log);
  section.Boolean("page", options.has_page);
  section.Boolean("strict", options.is_strict);
  section.String("api_key", options.api_key);
  ReadRepository(section, options.repository);
  for (const std::string& origin : section.Strings("allow_origins")) {
    options.allowed_origins.insert(ParseOrigin(origin));
  }
  CheckTls(options.tls);
}

// The existing tables of these names.
std::string TablesOf(const Section& section, std::initializer_list<const char*> names) {
  toml::table tables;
  for (const char* name : names) {
    if (const toml::table* table = section.In(name).table()) tables.insert(name, *table);
  }
  return tables.empty() ? "" : TomlText(tables);
}

// `place`: the table's name, for messages.
void ReadGuest(const Section& section, const std::string& place, GuestFile& guest) {
  section.Path("file", guest.file);
  if (guest.file.empty()) ThrowWrong(place + ".file", "a path: it is missing");
  guest.policy = TablesOf(section, {"limits", "policy"});
  guest.has_limits = section.In("limits").table() != nullptr;
  guest.models = section.In("policy").Strings("models");
}

// The folders and variables of a route's guest.
void ReadSurroundings(const Section& section, const std::filesystem::path& folder, const std::string& place,
                      RouteSettings& settings) {
  const auto or_throw = [&](const char* key, auto parsed) {
    if (!parsed) ThrowInvalid("configuration key '{}.{}': {}", place, key, parsed.error());
    return std::move(*parsed);
  };
  for (const std::string& text : section.Strings("dir")) {
    settings.directories.push_back(or_throw("dir", cli::ParseServedDirectory(text, folder)));
  }
  for (const std::string& text : section.Strings("env")) {
    auto [name, value] = or_throw("env", cli::ParseEnvironment(text));
    settings.env[name] = value;
  }
}

std::optional<KeyDigest> ParseDigest(std::string_view text) {
  if (!text.starts_with(kDigestPrefix)) return std::nullopt;
  text.remove_prefix(kDigestPrefix.size());
  KeyDigest digest;
  size_t size = 0;
  const int failed = sodium_hex2bin(digest.data(), digest.size(), text.data(), text.size(), nullptr, &size, nullptr);
  if (failed != 0 || size != digest.size() || text.size() != 2 * size) return std::nullopt;
  return digest;
}

TenantSettings ReadTenant(const Section& section, const std::string& place) {
  TenantSettings tenant;
  for (const std::string& key : section.Strings("keys")) {
    const auto digest = ParseDigest(key);
    if (!digest) ThrowWrong(place + ".keys", kKeys);
    tenant.keys.push_back(*digest);
  }
  if (tenant.keys.empty()) ThrowWrong(place + ".keys", kKeys);
  section.Boolean("operator", tenant.is_operator);
  section.Integer("max_requests", tenant.max_requests);
  tenant.guest_toml = TablesOf(section, {"limits", "policy"});
  tenant.models = section.In("policy").Strings("models");
  return tenant;
}

// Each key belongs to one tenant.
void CheckKeys(const std::map<std::string, TenantSettings>& tenants) {
  std::map<KeyDigest, std::string> owners;
  for (const auto& [name, tenant] : tenants) {
    for (const KeyDigest& key : tenant.keys) {
      const auto [owner, is_new] = owners.emplace(key, name);
      if (is_new) continue;
      ThrowInvalid("the tenants '{}' and '{}' have the same key, or one has it twice", owner->second, name);
    }
  }
}

// Policies name formats, which backends serve.
toml::table BackendsOf(const toml::table& table, const std::filesystem::path& folder) {
  toml::table backends;
  if (const toml::array* order = table["backend_order"].as_array()) backends.insert("backend_order", *order);
  if (const toml::array* folders = table["backend_dirs"].as_array()) {
    toml::array absolute;
    for (const toml::node& one : *folders) absolute.push_back((folder / one.value_or(std::string())).string());
    backends.insert("backend_dirs", std::move(absolute));
  }
  return backends;
}

HostSections SectionsOf(toml::table table, const std::filesystem::path& folder) {
  toml::table guests = BackendsOf(table, folder);
  for (const char* name : {"limits", "policy", "engine"}) {
    if (const toml::table* section = table[name].as_table()) guests.insert(name, *section);
    table.erase(name);
  }
  HostSections sections;
  sections.guests = TomlText(guests);
  if (toml::table* serve = table["serve"].as_table()) {
    serve->erase("api_key");  // read again at a reload
    sections.serve = TomlText(*serve);
  }
  for (const char* name : {"serve", "routes", "guest_models", "tenants"}) table.erase(name);
  sections.others = TomlText(table);
  return sections;
}

void ReadSections(const toml::table& table, const std::filesystem::path& folder, ServeOptions& options) {
  const Section top{toml::node_view<const toml::node>(table), folder};
  ReadServe(top.In("serve"), options);
  top.In("routes").EachTable([&](const std::string& path, const Section& route) {
    RouteSettings& settings = options.routes[path];
    ReadGuest(route, "routes." + path, settings);
    route.Boolean("public", settings.is_public);
    ReadSurroundings(route, folder, "routes." + path, settings);
    const Section reuse = route.In("reuse");
    reuse.Integer("requests", settings.reuse.requests);
    reuse.Integer("concurrent", settings.reuse.at_once);
    reuse.Integer("idle_ms", settings.reuse.idle);
    if (!settings.reuse.HasEffect()) ThrowWrong("routes." + path + ".reuse.requests", "2 or more, if instances stay");
  });
  top.In("guest_models").EachTable([&](const std::string& name, const Section& model) {
    ReadGuest(model, "guest_models." + name, options.guest_models[name]);
  });
  top.In("models").EachTable([&](const std::string& name, const Section& model) {
    const toml::table* const loras = model.In("config").In("loras").table();
    for (const auto& [adapter, path] : loras == nullptr ? toml::table() : *loras) {
      options.adapters.emplace(adapter.str(), name);
    }
    if (const toml::table* const config = model.In("config").table())
      options.upstreams.models[name] = JsonText(*config);
    bool is_preloaded = false;
    model.Boolean("preload", is_preloaded);
    if (is_preloaded) options.repository.preloaded.insert(name);
  });
  if (const toml::table* const remote = top.In("backends").In("remote").table()) {
    options.upstreams.backend = JsonText(*remote);
  }
  top.In("tenants").EachTable([&](const std::string& name, const Section& tenant) {
    options.tenants[name] = ReadTenant(tenant, "tenants." + name);
  });
  CheckKeys(options.tenants);
  top.In("log").String("level", options.log_level);
  options.sections = SectionsOf(table, folder);
}

// Replaces the name at the beginning of the core's message by the file's.
std::string OfFile(std::string_view message, const std::string& path) {
  constexpr std::string_view kUnnamed = "configuration:";
  if (!message.starts_with(kUnnamed)) return fmt::format("{}: {}", path, message);
  return fmt::format("{}:{}", path, message.substr(kUnnamed.size()));
}

}  // namespace

std::vector<engines::Directory> FoldersOf(const std::map<std::string, RouteSettings>& routes) {
  std::vector<engines::Directory> folders;
  for (const auto& [path, route] : routes) {
    folders.insert(folders.end(), route.directories.begin(), route.directories.end());
  }
  return folders;
}

void TakeApiKeys(ServeOptions& options) {
  std::vector<std::string> keys;
  if (options.api_key) keys.push_back(*options.api_key);
  if (options.api_key == "") ThrowInvalid("the API key (--api-key, WASINN_API_KEY, serve.api_key) is empty");
  if (options.api_key_file) {
    errno = 0;
    std::ifstream file(*options.api_key_file);
    if (!file) ThrowInvalid("--api-key-file: cannot open '{}': {}", *options.api_key_file, std::strerror(errno));
    for (std::string line; std::getline(file, line);) {
      line.erase(line.find_last_not_of(" \t\r") + 1);
      if (!line.empty()) keys.push_back(std::move(line));
    }
    if (keys.empty()) ThrowInvalid("--api-key-file: there is no key in '{}'", *options.api_key_file);
  }
  if (keys.empty()) return;
  if (!options.tenants.empty()) {
    ThrowInvalid(
        "an API key (--api-key, --api-key-file, serve.api_key) is of a server without "
        "tenants: these have keys of their own");
  }
  TenantSettings& owner = options.tenants["api-key"];
  owner.is_operator = true;
  for (const std::string& key : keys) {
    const auto digest = ParseDigest(key);
    owner.keys.push_back(digest ? *digest : KeyDigest());
    if (digest) continue;
    crypto_hash_sha256(owner.keys.back().data(), reinterpret_cast<const unsigned char*>(key.data()), key.size());
  }
}

void ReadServeFile(const std::string& path, ServeOptions& options) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file.is_open() || file.bad()) {
    Throw(WASINN_ERROR_NOT_FOUND, "cannot read the configuration '{}': {}", path, std::strerror(errno));
  }
  try {
    OrThrow(Config().LoadToml(text.str()));
    ReadSections(toml::parse(text.str(), path), std::filesystem::absolute(path).parent_path(), options);
  } catch (const Failure& failure) {
    throw Failure{failure.code, OfFile(failure.message, path)};
  }
}

}  // namespace wasinn::serve
