// Configuration from TOML files, texts and single keys, merged in the order of the calls and checked against one table
// of keys.
#pragma once

#include <toml++/toml.h>
#include <filesystem>
#include <string>
#include <string_view>

#include "core/host/host_options.h"
#include "core/status.h"

namespace wasinn::core {

class Config {
 public:
  // As wasinn_config_load_file, _load_toml and _set.
  Status LoadFile(const std::string& path);
  Status LoadText(std::string_view text);
  Status Set(std::string_view key, std::string_view value);
  // As wasinn_config_on_span.
  void OnSpan(wasinn_span_fn function, void* user) {
    span_ = function;
    span_user_ = user;
  }

  // The values of the keys, with defaults for keys that are not set.
  Result<HostOptions> ToHostOptions() const;

 private:
  Status Parse(std::string_view text, const std::string& name, const std::filesystem::path& folder);
  Status Add(toml::table& values, const std::filesystem::path& folder);

  toml::table values_;
  wasinn_span_fn span_ = nullptr;
  void* span_user_ = nullptr;
};

// Checks every key, and the type, range and word of its value. Makes relative paths absolute from `folder`. An unknown
// key is an error that names the nearest known key. The keys of [backends.NAME] and [models.NAME.config] are checked
// when that backend is opened.
Status CheckKeys(toml::table& values, const std::filesystem::path& folder);

// Merges `from` into `into`: tables are merged, other values replaced.
void MergeTables(toml::table& into, const toml::table& from);

}  // namespace wasinn::core
