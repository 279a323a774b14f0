// wasinn models: lists the models for guests, whether they load, and what was pulled from registries.
#include <fmt/format.h>
#include <sodium.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/command.h"
#include "cli/host_flags.h"
#include "cli/log.h"
#include "cli/models_pull.h"
#include "cli/progress.h"
#include "cli/signature_text.h"
#include "cli/table.h"
#include "settings/text.h"

namespace wasinn::cli {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr int kDoNotLoad = 1;

struct ModelsFlags {
  HostFlags host;
  PullFlags pull;
  bool verify = false, isolate = false, json = false;
};

// A file of the model.
struct File {
  uint64_t bytes = 0;
  std::string digest;  // as `b2sum -l 256` prints it, and as in the log
};

std::optional<File> ReadFileOf(const std::string& path) {
  std::error_code failed;
  if (!fs::is_regular_file(path, failed)) return {};
  std::ifstream stream(path, std::ios::binary);
  crypto_generichash_state state;
  crypto_generichash_init(&state, nullptr, 0, crypto_generichash_BYTES);
  File file;
  std::array<char, 1 << 16> part;
  while (stream) {
    stream.read(part.data(), part.size());
    file.bytes += static_cast<uint64_t>(stream.gcount());
    crypto_generichash_update(&state, reinterpret_cast<const uint8_t*>(part.data()),
                              static_cast<unsigned long long>(stream.gcount()));
  }
  if (stream.bad() || !stream.eof()) return {};
  std::array<uint8_t, crypto_generichash_BYTES> digest;
  crypto_generichash_final(&state, digest.data(), digest.size());
  for (const uint8_t byte : digest) file.digest += fmt::format("{:02x}", byte);
  return file;
}

struct Model {
  ModelInfo info;
  std::optional<File> file;
  std::optional<Result<Signature>> signature;  // if it was verified

  std::string Id() const { return info.name + ":" + std::to_string(info.version); }
  bool Loads() const { return !signature || signature->ok(); }
};

// For an address, the backend's framework is only one of its protocols.
std::string PlaceOf(const ModelInfo& info) {
  if (!settings::IsAddress(info.path)) return "on " + info.framework;
  return "over " + info.path.substr(0, info.path.find("://"));
}

std::vector<Model> Look(const Host& host, bool verify) {
  std::vector<Model> models;
  for (ModelInfo& info : host.Models()) {
    Model& model = models.emplace_back();
    model.info = std::move(info);
    model.file = ReadFileOf(model.info.path);
    if (!verify) continue;
    const Progress progress("loading " + model.Id());
    model.signature = host.Inspect(model.Id());
    if (auto loaded = FindModel(host, model.Id())) model.info = std::move(*loaded);  // its backend is known now
  }
  return models;
}

std::string ToJson(const std::vector<Model>& models) {
  Json all = Json::array();
  for (const Model& model : models) {
    Json json = {{"name", model.info.name},
                 {"version", model.info.version},
                 {"encoding", model.info.encoding},
                 {"target", wasinn_target_name(model.info.target)},
                 {"path", model.info.path},
                 {"bytes", model.file ? Json(model.file->bytes) : Json()},
                 {"digest", model.file ? Json(model.file->digest) : Json()}};
    if (!model.info.steps.empty()) json["steps"] = model.info.steps;
    if (model.signature) {
      json["loads"] = model.Loads();
      json["error"] = model.signature->status().message();
      json["framework"] = model.info.framework;
    }
    if (model.signature && model.Loads()) {
      json["inputs"] = IosToJson((**model.signature).inputs);
      json["outputs"] = IosToJson((**model.signature).outputs);
    }
    all.push_back(std::move(json));
  }
  return Dump(all);
}

std::string ToText(const std::vector<Model>& models) {
  Table table({"MODEL", "FORMAT", "BYTES", "BLAKE2b", "PATH"});
  std::string details;
  for (const Model& model : models) {
    // Enough digits to distinguish models; --json has them all.
    constexpr size_t kDigits = 16;
    const std::string format = model.info.encoding.empty() ? "?" : model.info.encoding + StepsOf(model.info);
    table.Add({settings::PrintableName(model.Id()), format, model.file ? std::to_string(model.file->bytes) : "-",
               model.file ? model.file->digest.substr(0, kDigits) : "-",
               model.info.path.empty() ? "-" : settings::PrintableName(model.info.path)});
    if (!model.signature) continue;
    details += fmt::format("\n{}: ", settings::PrintableName(model.Id()));
    if (!model.Loads()) {
      details += fmt::format("DOES NOT LOAD: {}\n", settings::Printable(model.signature->status().message()));
      continue;
    }
    details += fmt::format("loads {}\n  in   {}\n  out  {}\n", PlaceOf(model.info), LineOf((**model.signature).inputs),
                           LineOf((**model.signature).outputs));
  }
  return table.ToString() + details;
}

int Run(ModelsFlags& flags) {
  if (flags.pull.are_given()) return RunPullCommand(flags.pull, flags.host, flags.json);
  if (flags.isolate) flags.host.settings.emplace_back("isolate_models", "true");
  const Result<Host> host = MakeHost(flags.host);
  if (!host) return Fail(host.status().message());
  const std::vector<Model> models = Look(*host, flags.verify);
  if (models.empty() && !flags.json)
    return Fail("no model is registered: --models DIR, --model NAME=PATH or --config FILE names some");
  std::fputs((flags.json ? ToJson(models) : ToText(models)).c_str(), stdout);
  for (const Model& model : models) {
    if (!model.Loads()) return kDoNotLoad;
  }
  return 0;
}

}  // namespace

Command AddModelsCommand(CLI::App& app) {
  CLI::App* models = app.add_subcommand("models", "List the models that guests may name, and try whether they load");
  auto flags = std::make_shared<ModelsFlags>();
  models->add_flag("--verify", flags->verify,
                   "Load each, and show its inputs and outputs; exits with 1 if one does not load");
  models->add_flag("--isolate", flags->isolate, "Load each in a worker, because it may crash its framework");
  models->add_flag("--json", flags->json, "Print JSON");
  models->footer("Examples:\n  wasinn models --models models\n  wasinn models --config wasinn.toml --verify");
  AddHostFlags(*models, &flags->host);
  AddModelFlags(*models, &flags->host);
  AddPullCommands(*models, &flags->pull);
  return {models, [flags] { return Run(*flags); }};
}

}  // namespace wasinn::cli
