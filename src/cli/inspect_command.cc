// wasinn inspect: the inputs and outputs of a model.
#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/artifact_paths.h"
#include "cli/command.h"
#include "cli/graph_file.h"
#include "cli/host_flags.h"
#include "cli/log.h"
#include "cli/model_graph.h"
#include "cli/progress.h"
#include "cli/signature_text.h"
#include "cli/table.h"
#include "engines/read_file.h"
#include "engines/wasm_file.h"
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
  std::string graph;  // a file; "": none
};

void AddRows(const char* what, const std::vector<Io>& ios, Table* table) {
  for (size_t i = 0; i < ios.size(); ++i) {
    table->Add({what, std::to_string(i), settings::PrintableName(ios[i].name), settings::PrintableName(TypeOf(ios[i])),
                ShapeOf(ios[i]), NotesOf(ios[i])});
  }
}

// An error about a file names the file; the host's message names a model with a version that the user did not give.
std::string WordsOf(const Status& status, const std::string& name, const std::string& file) {
  const std::string named = "model '" + name + ":1': ";
  std::string words = status.message();
  if (file.empty() || !words.starts_with(named)) return words;
  const std::string rest = words.substr(named.size());
  return settings::IsAddress(file) ? rest : file + ": " + rest;  // its backend names it, without a possible password
}

Result<Signature> Inspect(const Host& host, const std::string& name) {
  const Progress progress("loading " + name);
  return host.Inspect(name);
}

// Draws the model that was loaded.
std::expected<void, std::string> WriteGraph(const ModelInfo& info, const Signature& signature,
                                            const std::string& path) {
  if (info.encoding == "pipeline") {
    const ModelGraph graph = PipelineGraph(info.steps, LineOf(signature.inputs), LineOf(signature.outputs));
    return WriteDrawing(ToDot(graph), path);
  }
  if (info.encoding != "onnx" || info.path.empty()) {
    return std::unexpected("--graph draws files of ONNX and pipelines, and this is " + info.encoding);
  }
  const auto bytes = engines::ReadFile(info.path);
  if (!bytes) return std::unexpected(bytes.error());
  const auto graph = ReadOnnxGraph(*bytes);
  if (!graph) return std::unexpected(info.path + ": " + graph.error());
  const Progress progress("drawing " + path);
  return WriteDrawing(ToDot(*graph), path);
}

// The kind of a guest that was given instead of a model; "": it is none.
std::string GuestKind(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return "";
  std::array<char, 8> head = {};  // enough to recognise it
  std::ifstream(path, std::ios::binary).read(head.data(), head.size());
  switch (engines::KindOf({head.data(), head.size()})) {
    case engines::WasmKind::kModule:
      return "a WebAssembly module";
    case engines::WasmKind::kComponent:
      return "a WebAssembly component";
    case engines::WasmKind::kWasmtimeCode:
    case engines::WasmKind::kWamrAot:
      return "a compiled guest";
    case engines::WasmKind::kText:
      return path.ends_with(".wat") ? "a WebAssembly module or component, as text" : "";
    case engines::WasmKind::kUnknownVersion:
    case engines::WasmKind::kNotWasm:
      break;
  }
  return "";
}

int Run(InspectFlags& flags) {
  if (const std::string guest = GuestKind(flags.model); !guest.empty() && flags.encoding.empty()) {
    return Fail(
        fmt::format("{} is {}, and no model: `wasinn check MODEL {}` says what it imports, and whether it fits "
                    "a model",
                    flags.model, guest, flags.model));
  }
  std::error_code ignored;
  std::string name = flags.model, file;
  if (std::filesystem::exists(flags.model, ignored) || artifacts::IsReference(flags.model) ||
      settings::IsAddress(flags.model)) {
    settings::ModelFlag model;
    model.name = name = NameOfPath(flags.model);
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
  if (!FindModel(*host, name)) {
    return Fail(
        fmt::format("{} is neither a file nor a folder nor the name of a model{}", name, settings::AddressHint(name)));
  }
  const Result<Signature> signature = Inspect(*host, name);
  if (!signature) return Fail(WordsOf(signature.status(), name, file));
  const std::optional<ModelInfo> info = FindModel(*host, name);  // its format is known now, even without an ending
  if (!info) return Fail(name + " is gone");
  if (!flags.graph.empty()) {
    if (auto written = WriteGraph(*info, *signature, flags.graph); !written) return Fail(written.error());
  }
  if (flags.json) {
    Json json = {{"name", info->name},
                 {"version", info->version},
                 {"encoding", info->encoding},
                 {"path", info->path},
                 {"inputs", IosToJson(signature->inputs)},
                 {"outputs", IosToJson(signature->outputs)}};
    if (!info->steps.empty()) json["steps"] = info->steps;
    std::fputs(Dump(json).c_str(), stdout);
    return 0;
  }
  Table table({"", "INDEX", "NAME", "TYPE", "SHAPE", ""});
  AddRows("input", signature->inputs, &table);
  AddRows("output", signature->outputs, &table);
  std::printf("%s (%s%s)\n\n%s", settings::PrintableName(flags.model).c_str(), info->encoding.c_str(),
              StepsOf(*info).c_str(), table.ToString().c_str());
  return 0;
}

}  // namespace

Command AddInspectCommand(CLI::App& app) {
  CLI::App* inspect = app.add_subcommand("inspect", "Show a model's inputs and outputs");
  auto flags = std::make_shared<InspectFlags>();
  inspect
      ->add_option("MODEL", flags->model,
                   "A file, a folder, an oci:// reference, an address (grpc://…, http://…), or\nthe name of a model in "
                   "the settings")
      ->required();
  inspect->add_option("--encoding", flags->encoding, "The model's format, if its name and bytes do not show it")
      ->type_name("ENCODING");
  inspect->add_flag("--isolate", flags->isolate,
                    "Open the file in a worker, because it may crash its framework or do worse");
  const auto check = [](const std::string& path) {
    const auto checked = CheckDrawing(path);
    return checked ? std::string() : checked.error();
  };
  inspect
      ->add_option("--graph", flags->graph,
                   "Draw the graph of an ONNX model or a pipeline: a file .dot, or with Graphviz\n.svg, .png or .pdf")
      ->type_name("FILE")
      ->check(check);
  inspect->add_flag("--json", flags->json, "Print JSON");
  inspect->footer(
      "Examples:\n  wasinn inspect digits.onnx\n  wasinn inspect --graph digits.svg digits.onnx\n  wasinn inspect "
      "--isolate from_a_guest.onnx");
  AddHostFlags(*inspect, &flags->host);
  AddModelFlags(*inspect, &flags->host);
  return {inspect, [flags] { return Run(*flags); }};
}

}  // namespace wasinn::cli
