#include "cli/host_flags.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string_view>

#include "cli/artifact_paths.h"
#include "cli/flags.h"
#include "cli/log.h"
#include "settings/quantities.h"
#include "settings/text.h"

namespace wasinn::cli {
namespace {

using ToValue = std::function<settings::Parsed<std::string>(const std::string&)>;

// A flag that sets configuration keys, all to the same value. An invalid value is a usage error.
void AddSetting(CLI::App& app, HostFlags* flags, const std::string& flag, const std::vector<std::string>& keys,
                const std::string& type, const ToValue& to_value, const std::string& help) {
  auto use = [flags, flag, keys](const std::string& value) {
    for (const std::string& key : keys) {
      if (const Status status = Config().Set(key, value); !status.ok()) {
        throw CLI::ValidationError(flag, status.message());
      }
      flags->settings.emplace_back(key, value);
    }
  };
  AddParsed<std::string>(app, flag, to_value, use, help)->type_name(type)->envname(EnvironmentName(flag));
}

template <size_t kDigits>
settings::Parsed<std::string> CountOf(const std::string& text) {
  const bool digits = !text.empty() && text.size() <= kDigits && text.find_first_not_of("0123456789") == text.npos;
  if (!digits) return std::unexpected("'" + text + "' is not a count");
  return text.substr(std::min(text.find_first_not_of('0'), text.size() - 1));  // TOML has no 08
}
constexpr auto Count = CountOf<9>, LongCount = CountOf<18>;

settings::Parsed<std::string> Size(const std::string& text) {
  const auto bytes = settings::ParseSize(text);
  if (!bytes) return std::unexpected(bytes.error());
  return std::to_string(*bytes);
}

settings::Parsed<std::string> Duration(const std::string& text) {
  const auto milliseconds = settings::ParseDuration(text);
  if (!milliseconds) return std::unexpected(milliseconds.error());
  return std::to_string(*milliseconds);
}

settings::Parsed<std::string> Same(const std::string& text) { return text; }

// Catches the next word, too, if the user wrote a flag without its value.
settings::Parsed<std::string> TrueOrFalse(const std::string& text) {
  if (text == "true" || text == "false") return text;
  return std::unexpected("'" + text + "' is not true or false");
}

using Settings = std::vector<std::pair<std::string, std::string>>;

// Wasmtime's -W: limits, and features of WebAssembly that are always on here.
settings::Parsed<Settings> ReadWasmFlag(const std::string& text) {
  struct Limit {
    std::string_view name;
    const char* key;
    settings::Parsed<std::string> (*read)(const std::string&);
  };
  static constexpr Limit kLimits[] = {{"timeout", "limits.run_timeout_ms", Duration},
                                      {"max-memory-size", "limits.max_memory_bytes", Size},
                                      {"max-table-elements", "limits.max_table_elements", LongCount},
                                      {"fuel", "limits.max_fuel", LongCount}};
  static constexpr std::string_view kOn[] = {"simd",           "bulk-memory",   "multi-value", "reference-types",
                                             "threads",        "shared-memory", "tail-call",   "multi-memory",
                                             "component-model"};
  Settings pairs;
  for (const std::string& item : settings::Split(text, ',')) {
    const size_t equals = item.find('=');
    const std::string name = item.substr(0, equals), value = equals == item.npos ? "y" : item.substr(equals + 1);
    if (value == "y" && std::ranges::find(kOn, name) != std::end(kOn)) continue;
    const auto* const limit = std::ranges::find(kLimits, name, &Limit::name);
    if (limit == std::end(kLimits)) {
      return std::unexpected("unknown '" + item +
                             "': known are timeout=, max-memory-size=, max-table-elements= and fuel=, and features of "
                             "WebAssembly that are always on, such as simd and threads");
    }
    settings::Parsed<std::string> setting = limit->read(value);
    if (!setting) return std::unexpected(setting.error());
    pairs.emplace_back(limit->key, std::move(*setting));
  }
  return pairs;
}

Status NotPulled(const std::string& what, const std::string& why) {
  return Status(wasinn_status_new(WASINN_ERROR_UNAVAILABLE, (what + ": " + why).c_str()));
}

// A value of a setting, in one line: JSON's strings are valid in TOML, too.
std::string AsSetting(const nlohmann::json& text) {
  return text.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// Replaces references in the file's models by their local paths.
Status PullModelsOf(const HostFlags& flags, Config& config) {
  const auto keys = ArtifactKeysOf(flags.config_file);
  if (!keys) return Status(wasinn_status_new(WASINN_ERROR_INVALID_ARGUMENT, keys.error().c_str()));
  for (const ArtifactKey& key : *keys) {
    if (key.section != "models") continue;
    const auto path = LocalModel(key.reference, flags.guest_folders);
    if (!path) return NotPulled("model " + key.name, path.error());
    const std::string place = fmt::format("models.{}.path", AsSetting(key.name));
    if (Status status = config.Set(place, AsSetting(*path)); !status.ok()) return status;
  }
  return Status();
}

// Puts the last flags into a group.
void Group(CLI::App& app, size_t before, const std::string& name) {
  const std::vector<CLI::Option*> all = app.get_options();
  for (size_t i = before; i < all.size(); ++i) all[i]->group(name);
}

}  // namespace

void AddHostFlags(CLI::App& app, HostFlags* flags) {
  app.add_option("--config", flags->config_file, "Settings, a TOML file (docs/configuration.md)")
      ->type_name("FILE")
      ->envname("WASINN_CONFIG");
  AddSetting(app, flags, "--threads", {"threads"}, "N", Count,
             "Threads for all computes together; default 1; 0: one per core, which is slow on a\nbusy machine: "
             "language models fall to a tenth");
  AddSetting(app, flags, "--log-level", {"log.level"}, "error|warning|info|debug", Same,
             "How much to log; default warning");
}

void AddModelFlags(CLI::App& app, HostFlags* flags) {
  auto add = [flags](const char* flag) {
    return [flags, flag](settings::ModelFlag model) {
      model.flag = flag;
      flags->models.push_back(std::move(model));
    };
  };
  auto add_all = [add](const std::vector<settings::ModelFlag>& models) {
    for (const settings::ModelFlag& model : models) add("-S")(model);
  };
  AddParsed<settings::ModelFlag>(app, "--model", settings::ParseModelFlag, add("--model"),
                                 "A file, folder, oci:// reference or address (grpc://…, http://…) that the guest\n"
                                 "may load by NAME. It may be followed by ,encoding=E ,target=T ,version=N\n"
                                 ",isolate=true (in a worker)")
      ->type_name("NAME=PATH")
      ->group("Models");
  AddParsed<std::string>(
      app, "--models", Same, [flags](std::string dir) { flags->model_dirs.push_back(std::move(dir)); },
      "All models of a folder: DIR/NAME/model.onnx, DIR/NAME/1/model.onnx")
      ->type_name("DIR")
      ->group("Models");
  const auto parse = [flags](const std::string& text) {
    return settings::ParseWasmtimeFlag(text, flags->grants_help != nullptr ? &flags->grants : nullptr);
  };
  const std::string more = flags->grants_help != nullptr ? std::string(";\n") + flags->grants_help : "";
  AddParsed<std::vector<settings::ModelFlag>>(
      app, "-S,--wasi", parse, add_all,
      "nn or nn-graph=FORMAT::DIR, as for wasmtime: the model's name\nis the folder's" + more)
      ->type_name("OPTION")
      ->group("Models");
  AddParsed<settings::ModelFlag>(app, "--nn-preload", settings::ParseWasmEdgeFlag, add("--nn-preload"),
                                 "NAME:ENCODING:TARGET:PATH, as for wasmedge")
      ->type_name("MODEL")
      ->group("Models");
}

void AddOutboundFlag(CLI::App& app, HostFlags* flags, const std::string& whom) {
  AddRepeated(
      app, "--allow-outbound",
      [flags](const std::vector<std::string>& hosts) {
        flags->settings.emplace_back("policy.allowed_outbound_hosts", AsSetting(hosts));
      },
      whom +
          ": https://example.com,\nhttp://10.0.0.5:8080, or https://*.example.com for all names below it; default: "
          "none")
      ->type_name("ORIGIN");
}

void AddLimitFlags(CLI::App& app, HostFlags* flags) {
  AddSetting(app, flags, "--dialect", {"policy.dialect"}, "witx|wasmedge|wamr|witx-0.1", Same,
             "The numbers that the guest uses for model formats; default witx");
  const size_t before = app.get_options().size();
  AddSetting(app, flags, "--nn-max-graphs", {"limits.max_graphs"}, "N", Count,
             "Graphs that the guest may hold at once; default 64");
  AddSetting(app, flags, "--nn-max-contexts", {"limits.max_contexts"}, "N", Count,
             "Execution contexts that it may hold at once; default 256");
  AddSetting(app, flags, "--nn-max-bytes", {"limits.max_model_bytes", "limits.max_tensor_bytes"}, "SIZE", Size,
             "Bytes of its own models, and as many of tensors: 64M; default 1G of each");
  AddSetting(
      app, flags, "--nn-timeout", {"limits.load_timeout_ms", "limits.compute_timeout_ms"}, "DURATION", Duration,
      "For one compute, and for one load of its own bytes: 500ms; default 30s and 60s;\n0: none. It may end later");
  AddSetting(app, flags, "--nn-load", {"policy.load"}, "isolated|in-process|deny", Same,
             "Models from the guest's own bytes: isolated, in a separate process (default);\nin-process, for trusted "
             "guests only; or deny");
  AddSetting(app, flags, "--nn-isolated-gpu", {"policy.isolated_gpu"}, "true|false", TrueOrFalse,
             "Let models in separate processes use GPUs, if their target is gpu or auto. Their\nsandbox is weaker "
             "then; default false");
  Group(app, before, "Limits of the guest's inference");
}

void AddCompileFlags(CLI::App& app, HostFlags* flags) {
  AddSetting(app, flags, "--compile-timeout", {"engine.compile_timeout_ms"}, "DURATION", Duration,
             "For compiling a guest that is not in the cache: 10s; default 2m; 0: none");
  AddSetting(app, flags, "--max-compile-memory", {"engine.max_compile_bytes"}, "SIZE", Size,
             "Bytes of memory for compiling a guest: 512M; default 2G; 0: no limit");
}

void AddProgramFlags(CLI::App& app, HostFlags* flags) {
  const size_t before = app.get_options().size();
  AddSetting(app, flags, "--timeout", {"limits.run_timeout_ms"}, "DURATION", Duration,
             "For the whole run, endless loops included: 1s, 500ms; 0 (default): none");
  AddSetting(app, flags, "--max-memory", {"limits.max_memory_bytes"}, "SIZE", Size,
             "Bytes of the guest's own memory; growing beyond it fails: 64M, 1G; default: no limit");
  AddSetting(app, flags, "--max-table-elements", {"limits.max_table_elements"}, "N", LongCount,
             "Elements of each of its tables; default: no limit (not with --engine wamr)");
  AddSetting(app, flags, "--max-threads", {"limits.max_threads"}, "N", Count,
             "Threads that it may have at once, besides its first; default 64");
  AddSetting(
      app, flags, "--fuel", {"limits.max_fuel"}, "N", LongCount,
      "Work that it may do, about one unit for each instruction; 0 (default): no limit\n(not with --engine wamr, nor "
      "for threads)");
  AddCompileFlags(app, flags);
  AddParsed<Settings>(
      app, "-W,--wasm", ReadWasmFlag,
      [flags](const Settings& pairs) { flags->settings.insert(flags->settings.end(), pairs.begin(), pairs.end()); },
      "As for wasmtime: timeout=, max-memory-size=, max-table-elements=, fuel=")
      ->type_name("OPTION");
  Group(app, before, "Limits of the guest");
}

void AddRouteLimitFlags(CLI::App& app, HostFlags* flags) {
  const size_t before = app.get_options().size();
  AddSetting(app, flags, "--timeout", {"limits.run_timeout_ms"}, "DURATION", Duration,
             "For one answer, endless loops included: 1s, 500ms; default 30s");
  AddSetting(app, flags, "--max-memory", {"limits.max_memory_bytes"}, "SIZE", Size,
             "Bytes of the guest's own memory for one answer; growing beyond it fails: 64M, 1G;\ndefault 256M");
  AddSetting(app, flags, "--max-table-elements", {"limits.max_table_elements"}, "N", LongCount,
             "Elements of each of its tables; default 250000");
  AddSetting(app, flags, "--fuel", {"limits.max_fuel"}, "N", LongCount,
             "Work that it may do for one answer, about one unit for each instruction;\n0 (default): no limit");
  AddCompileFlags(app, flags);
  Group(app, before, "Limits of guests, behind routes and as models");
}

Result<Host> MakeHostAlone(const HostFlags& flags) {
  Config config;
  // First, so that a file or a flag overrides it.
  if (flags.has_one_guest) {
    if (Status status = config.Set("max_guest_computes", "4294967295"); !status.ok()) return status;
  }
  if (!flags.config_file.empty()) {
    if (Status status = config.LoadFile(flags.config_file); !status.ok()) return status;
    if (Status status = PullModelsOf(flags, config); !status.ok()) return status;
  }
  for (const auto& [key, value] : flags.settings) {
    if (Status status = config.Set(key, value); !status.ok()) return status;
    if (key == "log.level") SetLogLevel(value);
  }
  if (flags.spans) config.OnSpan(flags.spans);
  return Host::Create(config, flags.log ? flags.log : LogFunction(LogRecord));
}

Status AddModels(const HostFlags& flags, Host& host) {
  for (const std::string& dir : flags.model_dirs) {
    if (Status status = host.AddModels(dir); !status.ok()) return status;
  }
  for (const settings::ModelFlag& model : flags.models) {
    // A word that is no backend's format is an error in the flags.
    if (Status status = host.CheckEncoding(model.encoding); !status.ok()) {
      throw CLI::ValidationError(model.flag, status.message());
    }
    settings::ModelFlag local = model;
    for (std::string& path : local.paths) {
      auto pulled = LocalModel(path, flags.guest_folders);
      if (!pulled) return NotPulled("model " + model.name, pulled.error());
      path = std::move(*pulled);
    }
    if (Status status = settings::AddModel(host, local); !status.ok()) return status;
  }
  return Status();
}

Status PullModels(const HostFlags& flags) {
  Config ignored;
  if (Status status = PullModelsOf(flags, ignored); !status.ok()) return status;
  for (const settings::ModelFlag& model : flags.models) {
    for (const std::string& path : model.paths) {
      if (auto pulled = LocalModel(path, flags.guest_folders); !pulled) {
        return NotPulled("model " + model.name, pulled.error());
      }
    }
  }
  return Status();
}

engines::Pool PoolOf(const EngineOptions& settings) {
  return {.instances = settings.pool_instances, .memory_bytes = settings.pool_memory_bytes};
}

engines::CompileLimits CompileLimitsOf(const EngineOptions& settings) {
  return {.max_bytes = settings.max_compile_bytes, .timeout_ms = settings.compile_timeout_ms};
}

Result<Host> MakeHost(const HostFlags& flags) {
  Result<Host> host = MakeHostAlone(flags);
  if (!host) return host;
  if (Status status = AddModels(flags, *host); !status.ok()) return status;
  return host;
}

}  // namespace wasinn::cli
