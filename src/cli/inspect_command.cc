// wasinn inspect: what a model takes and gives.
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/command.h"
#include "cli/host_flags.h"
#include "cli/log.h"
#include "cli/table.h"
#include "settings/text.h"

namespace wasinn::cli {
namespace {

using Json = nlohmann::ordered_json;

struct InspectFlags {
  HostFlags host;
  std::string model;
  std::string encoding;
  bool isolate = false;
  bool json = false;
};

std::string TypeOf(const Io& io) {
  if (io.dtype != WASINN_DTYPE_UNKNOWN) return wasinn_dtype_name(io.dtype);
  return io.type_name.empty() ? "?" : io.type_name;
}

// "[1, 3, ?, ?]"; "[]" is a scalar, "?" any shape.
std::string ShapeOf(const Io& io) {
  if (!io.has_rank) return "?";
  std::string shape = "[";
  for (const int64_t dim : io.dims) {
    if (shape.size() > 1) shape += ", ";
    shape += dim < 0 ? "?" : std::to_string(dim);
  }
  return shape + "]";
}

std::string NotesOf(const Io& io) {
  if (io.flags & WASINN_IO_UNSERVABLE) return "guests cannot use it";
  if (io.flags & WASINN_IO_OPAQUE) return "bytes of any length";
  return io.flags & WASINN_IO_OPTIONAL ? "optional" : "";
}

// As guests have it from `describe`: -1 is a dim that may be anything, null the shape of unknown rank.
Json ToJson(const Io& io) {
  const Json shape = io.has_rank ? Json(io.dims) : Json();
  return {{"name", io.name},
          {"dtype", wasinn_dtype_name(io.dtype)},
          {"type", io.type_name},
          {"shape", shape},
          {"optional", (io.flags & WASINN_IO_OPTIONAL) != 0},
          {"usable", (io.flags & WASINN_IO_UNSERVABLE) == 0}};
}

Json ToJson(const std::vector<Io>& ios) {
  Json json = Json::array();
  for (const Io& io : ios) json.push_back(ToJson(io));
  return json;
}

void AddRows(const char* what, const std::vector<Io>& ios, Table* table) {
  for (size_t i = 0; i < ios.size(); ++i) {
    table->Add({what, std::to_string(i), settings::Printable(ios[i].name), settings::Printable(TypeOf(ios[i])),
                ShapeOf(ios[i]), NotesOf(ios[i])});
  }
}

// The version that a guest gets for `name`: the one asked for, else the highest.
std::optional<ModelInfo> Find(const Host& host, const std::string& name) {
  std::optional<ModelInfo> found;
  for (ModelInfo& info : host.Models()) {
    if (info.name == name || info.name + ":" + std::to_string(info.version) == name) found = std::move(info);
  }
  return found;
}

// ": mel, embedding" of a pipeline.
std::string StepsOf(const ModelInfo& info) {
  std::string steps;
  for (const std::string& step : info.steps) steps += (steps.empty() ? ": " : ", ") + settings::Printable(step);
  return steps;
}

// An error of a file names the file; the host's words name the model that it became, with a version that it never had.
std::string WordsOf(const Status& status, const std::string& name, const std::string& file) {
  const std::string words = status.message(), named = "model '" + name + ":1': ";
  return !file.empty() && words.starts_with(named) ? file + ": " + words.substr(named.size()) : words;
}

int Run(InspectFlags& flags) {
  std::error_code ignored;
  std::string name = flags.model, file;
  if (std::filesystem::exists(flags.model, ignored)) {
    settings::ModelFlag model;
    model.name = name = settings::LastComponent(flags.model);
    model.paths.push_back(file = flags.model);
    model.encoding = flags.encoding;
    model.isolate = flags.isolate;
    model.flag = "--encoding";
    flags.host.models.push_back(model);
  } else if (flags.isolate || !flags.encoding.empty()) {
    throw CLI::ValidationError(flags.isolate ? "--isolate" : "--encoding",
                               "is for a file or folder, and '" + name + "' is neither; its settings can say so");
  }
  const Result<Host> host = MakeHost(flags.host);
  if (!host) return Fail(host.status().message());
  if (!Find(*host, name)) return Fail(name + " is neither a file nor a folder nor the name of a model");
  const Result<Signature> signature = host->Inspect(name);
  if (!signature) return Fail(WordsOf(signature.status(), name, file));
  const std::optional<ModelInfo> info = Find(*host, name);  // its format is known now, whatever it is called
  if (!info) return Fail(name + " is gone");
  if (flags.json) {
    Json json = {{"name", info->name},
                 {"version", info->version},
                 {"encoding", info->encoding},
                 {"path", info->path},
                 {"inputs", ToJson(signature->inputs)},
                 {"outputs", ToJson(signature->outputs)}};
    if (!info->steps.empty()) json["steps"] = info->steps;
    // A name that is no UTF-8 is the model's, and no reason to fail.
    std::puts(json.dump(2, ' ', false, Json::error_handler_t::replace).c_str());
    return 0;
  }
  Table table({"", "INDEX", "NAME", "TYPE", "SHAPE", ""});
  AddRows("input", signature->inputs, &table);
  AddRows("output", signature->outputs, &table);
  std::printf("%s (%s%s)\n\n%s", flags.model.c_str(), info->encoding.c_str(), StepsOf(*info).c_str(),
              table.ToString().c_str());
  return 0;
}

}  // namespace

Command AddInspectCommand(CLI::App& app) {
  CLI::App* inspect = app.add_subcommand("inspect", "Show a model's inputs and outputs");
  auto flags = std::make_shared<InspectFlags>();
  inspect->add_option("MODEL", flags->model, "A model file, a model folder, or the name of a model in the settings")
      ->required();
  inspect->add_option("--encoding", flags->encoding, "The model's format, where its name and bytes do not tell")
      ->type_name("ENCODING");
  inspect->add_flag("--isolate", flags->isolate,
                    "Open the file in a worker: for one that may crash its framework, or do worse");
  inspect->add_flag("--json", flags->json, "Print JSON");
  inspect->footer("Examples:\n  wasinn inspect digits.onnx\n  wasinn inspect --isolate from_a_guest.onnx");
  AddHostFlags(*inspect, &flags->host);
  AddModelFlags(*inspect, &flags->host);
  return {inspect, [flags] { return Run(*flags); }};
}

}  // namespace wasinn::cli
