#include "cli/host_flags.h"

#include <algorithm>
#include <functional>

#include "cli/flags.h"
#include "cli/log.h"
#include "settings/quantities.h"

namespace wasinn::cli {
namespace {

using ToValue = std::function<settings::Parsed<std::string>(const std::string&)>;

// A flag that sets configuration keys, all to the same value. A value that they cannot have is a usage error.
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

// Those that were added last.
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
             "Threads for all computes together; 1 unless told, 0: one per core");
  AddSetting(app, flags, "--log-level", {"log.level"}, "LEVEL", Same, "error, warning (default), info or debug");
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
                                 "A file or folder that the guest may load by NAME; after the path\n"
                                 "may follow ,encoding=E ,target=T ,version=N ,isolate=true (in a worker)")
      ->type_name("NAME=PATH")
      ->group("Models");
  AddParsed<std::string>(
      app, "--models", Same, [flags](std::string dir) { flags->model_dirs.push_back(std::move(dir)); },
      "Every model of a folder: DIR/NAME/model.onnx, DIR/NAME/1/model.onnx")
      ->type_name("DIR")
      ->group("Models");
  AddParsed<std::vector<settings::ModelFlag>>(
      app, "-S,--wasi", settings::ParseWasmtimeFlag, add_all,
      "nn or nn-graph=FORMAT::DIR, as for wasmtime: the model's name\nis the folder's")
      ->type_name("OPTION")
      ->group("Models");
  AddParsed<settings::ModelFlag>(app, "--nn-preload", settings::ParseWasmEdgeFlag, add("--nn-preload"),
                                 "NAME:ENCODING:TARGET:PATH, as for wasmedge")
      ->type_name("MODEL")
      ->group("Models");
}

void AddInputsFlag(CLI::App& app, HostFlags* flags, const std::string& flag) {
  AddSetting(app, flags, flag, {"policy.inputs"}, "WAY", Same,
             "copied (default), or by-reference: left where they lie until compute");
}

void AddLimitFlags(CLI::App& app, HostFlags* flags) {
  AddSetting(app, flags, "--dialect", {"policy.dialect"}, "NAME", Same,
             "Whose numbers the guest uses for model formats: witx (default), wasmedge or wamr");
  const size_t before = app.get_options().size();
  AddInputsFlag(app, flags, "--nn-inputs");
  AddSetting(app, flags, "--nn-max-graphs", {"limits.max_graphs"}, "N", Count,
             "Graphs that the guest may hold at once; 64 unless told");
  AddSetting(app, flags, "--nn-max-contexts", {"limits.max_contexts"}, "N", Count,
             "Execution contexts, likewise; 256 unless told");
  AddSetting(app, flags, "--nn-max-bytes", {"limits.max_model_bytes", "limits.max_tensor_bytes"}, "SIZE", Size,
             "Bytes of its own models, and bytes of tensors: 64M; 1G of each unless told");
  AddSetting(
      app, flags, "--nn-timeout", {"limits.load_timeout_ms", "limits.compute_timeout_ms"}, "DURATION", Duration,
      "For one compute, and one load of its own bytes: 500ms; 30s and 60s unless told,\n0: none. It may end later");
  AddSetting(app, flags, "--nn-load", {"policy.load"}, "WAY", Same,
             "Models from the guest's own bytes: isolated in a process of their own\n(default), in-process (trusted "
             "guests alone), or deny");
  Group(app, before, "Limits of the guest's inference");
}

void AddProgramFlags(CLI::App& app, HostFlags* flags) {
  const size_t before = app.get_options().size();
  AddSetting(app, flags, "--timeout", {"limits.run_timeout_ms"}, "DURATION", Duration,
             "For the whole run, endless loops included: 1s, 500ms; 0 (default): none");
  AddSetting(app, flags, "--max-memory", {"limits.max_memory_bytes"}, "SIZE", Size,
             "Of the guest's own memory: growing beyond it fails: 64M, 1G; any unless told");
  AddSetting(app, flags, "--max-table-elements", {"limits.max_table_elements"}, "N", LongCount,
             "Of each of its tables, likewise; any unless told (not with --engine wamr)");
  AddSetting(app, flags, "--max-threads", {"limits.max_threads"}, "N", Count,
             "Threads that it may have at once beside its first; 64 unless told");
  AddSetting(app, flags, "--fuel", {"limits.max_fuel"}, "N", LongCount,
             "Work that it may do, some unit for each instruction; 0 (default): any\n(not with --engine wamr, nor "
             "for threads)");
  Group(app, before, "Limits of the guest");
}

Result<Host> MakeHostAlone(const HostFlags& flags) {
  Config config;
  if (!flags.config_file.empty()) {
    if (Status status = config.LoadFile(flags.config_file); !status.ok()) return status;
  }
  for (const auto& [key, value] : flags.settings) {
    if (Status status = config.Set(key, value); !status.ok()) return status;
  }
  if (flags.spans) config.OnSpan(flags.spans);
  return Host::Create(config, Log);
}

Status AddModels(const HostFlags& flags, Host& host) {
  for (const std::string& dir : flags.model_dirs) {
    if (Status status = host.AddModels(dir); !status.ok()) return status;
  }
  for (const settings::ModelFlag& model : flags.models) {
    // A word that is nobody's format is a mistake in the flags.
    if (Status status = host.CheckEncoding(model.encoding); !status.ok()) {
      throw CLI::ValidationError(model.flag, status.message());
    }
    if (Status status = settings::AddModel(host, model); !status.ok()) return status;
  }
  return Status();
}

engines::Pool PoolOf(const EngineOptions& settings) {
  return {.instances = settings.pool_instances, .memory_bytes = settings.pool_memory_bytes};
}

Result<Host> MakeHost(const HostFlags& flags) {
  Result<Host> host = MakeHostAlone(flags);
  if (!host) return host;
  if (Status status = AddModels(flags, *host); !status.ok()) return status;
  return host;
}

}  // namespace wasinn::cli
