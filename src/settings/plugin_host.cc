#include "settings/plugin_host.h"

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "settings/model_flags.h"
#include "settings/quantities.h"
#include "settings/text.h"

namespace wasinn::settings {
namespace {

enum class Kind { kAsItIs, kSize, kDuration };

struct Variable {
  const char* name;
  Kind kind;
  std::vector<const char*> keys;
};

std::vector<Variable> Variables() {
  return {{"WASINN_THREADS", Kind::kAsItIs, {"threads"}},
          {"WASINN_LOG_LEVEL", Kind::kAsItIs, {"log.level"}},
          {"WASINN_DIALECT", Kind::kAsItIs, {"policy.dialect"}},
          {"WASINN_NN_MAX_GRAPHS", Kind::kAsItIs, {"limits.max_graphs"}},
          {"WASINN_NN_MAX_CONTEXTS", Kind::kAsItIs, {"limits.max_contexts"}},
          {"WASINN_NN_MAX_BYTES", Kind::kSize, {"limits.max_model_bytes", "limits.max_tensor_bytes"}},
          {"WASINN_NN_TIMEOUT", Kind::kDuration, {"limits.load_timeout_ms", "limits.compute_timeout_ms"}},
          {"WASINN_NN_LOAD", Kind::kAsItIs, {"policy.load"}},
          {"WASINN_NN_ISOLATED_GPU", Kind::kAsItIs, {"policy.isolated_gpu"}}};
}

Status Error(const std::string& message) {
  return Status(wasinn_status_new(WASINN_ERROR_INVALID_ARGUMENT, message.c_str()));
}

Parsed<std::string> ToSetting(Kind kind, const std::string& text) {
  if (kind == Kind::kSize) {
    const auto bytes = ParseSize(text);
    if (!bytes) return std::unexpected(bytes.error());
    return std::to_string(*bytes);
  }
  if (kind == Kind::kDuration) {
    const auto milliseconds = ParseDuration(text);
    if (!milliseconds) return std::unexpected(milliseconds.error());
    return std::to_string(*milliseconds);
  }
  return text;
}

Status ReadEnvironment(Config& config) {
  for (const Variable& variable : Variables()) {
    const char* text = std::getenv(variable.name);
    if (text == nullptr || *text == '\0') continue;
    const auto value = ToSetting(variable.kind, text);
    if (!value) return Error(std::string(variable.name) + ": " + value.error());
    for (const char* key : variable.keys) {
      if (Status status = config.Set(key, *value); !status.ok()) return status;
    }
  }
  return Status();
}

Status AddModels(Host& host, const char* list) {
  for (const std::string& part : Split(list, ';')) {
    if (part.empty()) continue;
    if (part.find('=') == part.npos) {
      if (Status status = host.AddModels(part); !status.ok()) return status;
      continue;
    }
    const auto model = ParseModelFlag(part);
    if (!model) return Error("WASINN_MODELS: " + model.error());
    if (Status status = AddModel(host, *model); !status.ok()) return status;
  }
  return Status();
}

}  // namespace

void Log(LogLevel level, const char* message) {
  const char* words[] = {"error", "warning", "info", "debug"};
  const auto index = static_cast<size_t>(level);
  std::fprintf(stderr, "wasinn: %s: %s\n", index < 4 ? words[index] : "", PrintableName(message).c_str());
}

void LogRecord(const wasinn_log_record& record) { Log(static_cast<LogLevel>(record.level), record.message); }

Result<Host> MakeHost(const char* dialect, const char* encoding) {
  Config config;
  if (Status status = config.Set("policy.dialect", dialect); !status.ok()) return status;
  if (const char* file = std::getenv("WASINN_CONFIG"); file != nullptr && *file != '\0') {
    if (Status status = config.LoadFile(file); !status.ok()) return status;
  }
  if (Status status = ReadEnvironment(config); !status.ok()) return status;
  if (encoding != nullptr) {
    const std::string list = "[\"" + std::string(encoding) + "\"]";
    if (Status status = config.Set("policy.encodings", list); !status.ok()) return status;
  }
  Result<Host> host = Host::Create(config, LogRecord);
  if (!host) return host;
  if (const char* models = std::getenv("WASINN_MODELS")) {
    if (Status status = AddModels(*host, models); !status.ok()) return status;
  }
  return host;
}

}  // namespace wasinn::settings
