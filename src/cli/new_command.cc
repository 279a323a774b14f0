// wasinn new: writes a program for a model.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <expected>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "artifacts/program.h"
#include "cli/artifact_paths.h"
#include "cli/command.h"
#include "cli/host_flags.h"
#include "cli/log.h"
#include "cli/own_prefix.h"
#include "cli/progress.h"
#include "cli/project.h"
#include "cli/signature_text.h"
#include "settings/text.h"

namespace wasinn::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kNameCharacters = "abcdefghijklmnopqrstuvwxyz0123456789_-";

struct NewFlags {
  HostFlags host;
  std::string folder, language, model;
  bool component = false, serve = false;
};

std::string CheckFolder(const std::string& text) {
  const std::string name = settings::LastComponent(text);
  const bool is_plain =
      !name.empty() && name[0] >= 'a' && name[0] <= 'z' && name.find_first_not_of(kNameCharacters) == name.npos;
  if (!is_plain) return "'" + name + "' is no name of a program: a letter from a to z, then letters, digits, - and _";
  if (name.starts_with("wasinn")) return "'" + name + "' begins like a name of wasinn's own";
  return "";
}

// "": there is none. Python's and JavaScript's programs are components in any case.
std::string FindTemplate(const std::vector<std::string>& names, const std::string& language, const NewFlags& flags,
                         bool is_text) {
  const std::string kind = std::string(is_text ? "-text" : "") + (flags.serve ? "-serve" : "");
  const std::string plain = language + kind, component = language + "-component" + kind;
  const auto is_there = [&](const std::string& name) { return std::ranges::find(names, name) != names.end(); };
  if (is_there(component) && (flags.component || !is_there(plain))) return component;
  return !flags.component && is_there(plain) ? plain : "";
}

// `is_text`: for a language model.
std::expected<std::string, std::string> TemplateOf(const NewFlags& flags, bool is_text) {
  const std::vector<std::string> names = TemplateNames();
  if (names.empty())
    return std::unexpected("the templates are not installed: there is no " + (ShareFolder() / "new").string());
  if (std::string found = FindTemplate(names, flags.language, flags, is_text); !found.empty()) return found;
  std::set<std::string> all, fitting;
  for (const std::string& name : names) {
    const std::string language = name.substr(0, name.find('-'));
    all.insert(language);
    if (!FindTemplate(names, language, flags, is_text).empty()) fitting.insert(language);
  }
  const bool is_known = all.contains(flags.language);
  const std::string kind = std::string(is_text ? " and a language model" : "") +
                           (flags.component ? " with --component" : "") + (flags.serve ? " with --serve" : "");
  const std::string others = is_known && fitting.empty()
                                 ? "`wasinn serve` serves the model as it is"
                                 : fmt::format("there is one for {}", fmt::join(is_known ? fitting : all, ", "));
  return std::unexpected(
      fmt::format("there is no template for {}{}; {}", flags.language, is_known ? kind : "", others));
}

// Whether a build file can have it between quotes.
bool IsPlain(const std::string& path) { return path.find_first_of("'$#\\\n") == path.npos; }

// How a build file calls this program: by its name if that finds it.
std::string OwnCommand() {
  std::error_code failed;
  const fs::path own = OwnPath(failed);
  const bool is_found = !failed && fs::equivalent(artifacts::FindProgram("wasinn"), own, failed);
  return is_found || own.empty() || !IsPlain(own) ? "wasinn" : "'" + own.string() + "'";
}

// The path of the model, for a build file in `folder`.
std::expected<std::string, std::string> PathFrom(const fs::path& folder, const std::string& model) {
  const fs::path path = model;
  const std::string text =
      path.is_absolute() ? model : fs::absolute(path).lexically_proximate(fs::absolute(folder)).string();
  if (IsPlain(text)) return text;
  return std::unexpected("a build file cannot name the path " + settings::PrintableName(text));
}

std::expected<ProjectModel, std::string> InspectedModel(NewFlags& flags) {
  if (flags.model.empty()) flags.model = ShareFolder() / "demo" / "digits.onnx";
  std::error_code ignored;
  if (!fs::exists(flags.model, ignored)) return std::unexpected("there is no model " + flags.model);
  settings::ModelFlag model;
  model.name = fs::path(NameOfPath(flags.model)).stem().string();
  model.paths.push_back(flags.model);
  model.flag = "--model";
  flags.host.models.push_back(model);
  const auto path = PathFrom(flags.folder, flags.model);
  if (!path) return std::unexpected(path.error());
  const Result<Host> host = MakeHost(flags.host);
  if (!host) return std::unexpected(host.status().message());
  const Progress progress("loading " + flags.model);
  Result<Signature> signature = host->Inspect(model.name);
  if (!signature) return std::unexpected(signature.status().message());
  return ProjectModel{model.name, *path, std::move(*signature)};
}

// Whose ports llama.cpp's backend, and that for servers, give all of them.
bool IsLanguageModel(const Signature& signature) {
  return !signature.inputs.empty() && signature.inputs[0].name == "prompt" && IsText(signature.inputs[0]) &&
         !signature.outputs.empty() && signature.outputs[0].name == "completion";
}

// Writes nothing where something is.
std::expected<void, std::string> WriteProject(const Project& project, const fs::path& folder) {
  std::error_code failed;
  const auto fail = [&](const fs::path& path) {
    return std::unexpected(fmt::format("cannot write {}: {}", path.string(), failed.message()));
  };
  if (!fs::create_directory(folder, failed)) {
    return failed ? fail(folder)
                  : std::unexpected(fmt::format("{} is there already, and stays as it is", folder.string()));
  }
  for (const auto& [name, from] : project.copies) {
    fs::create_directories((folder / name).parent_path());
    fs::copy(from, folder / name, fs::copy_options::recursive, failed);
    if (failed) return fail(folder / name);
  }
  for (const auto& [name, text] : project.files) {
    const fs::path path = folder / name;
    fs::create_directories(path.parent_path(), failed);
    std::ofstream file(path, std::ios::binary);
    file << text << std::flush;
    failed = file ? std::error_code() : std::make_error_code(std::errc::io_error);
    if (failed) return fail(path);
  }
  return {};
}

int Run(NewFlags& flags) {
  if (flags.language == "cpp") flags.language = "c++";
  auto name = TemplateOf(flags, false);
  if (!name) return Fail(name.error());
  while (flags.folder.ends_with('/')) flags.folder.pop_back();
  std::error_code ignored;
  if (fs::exists(fs::symlink_status(flags.folder, ignored)))
    return Fail(flags.folder + " is there already, and stays as it is");
  const auto model = InspectedModel(flags);
  if (!model) return Fail(model.error());
  const bool is_text = IsLanguageModel(model->signature);
  if (is_text) name = TemplateOf(flags, true);
  if (!name) return Fail(name.error());
  const auto project = MakeProject(*name, settings::LastComponent(flags.folder), *model, OwnCommand());
  if (!project) return Fail(project.error());
  if (const auto written = WriteProject(*project, flags.folder); !written) return Fail(written.error());
  std::printf("model %s\n  in   %s\n  out  %s\n", settings::PrintableName(model->name).c_str(),
              LineOf(model->signature.inputs).c_str(), LineOf(model->signature.outputs).c_str());
  for (const Io& io : model->signature.outputs) {
    if (IsText(io) && !is_text) std::printf("left out: the output '%s', for its values are texts\n", io.name.c_str());
  }
  for (const auto& [file, text] : project->files) std::printf("wrote %s\n", (fs::path(flags.folder) / file).c_str());
  for (const Finding& finding : DiagnoseGuests(*name)) {
    if (finding.state == Finding::State::kOk) continue;
    std::printf("missing here: %s; to get it: %s\n", finding.found.c_str(), finding.remedy.c_str());
  }
  std::printf("next: cd %s && make %s\n", flags.folder.c_str(), flags.serve ? "serve" : "test");
  return 0;
}

}  // namespace

Command AddNewCommand(CLI::App& app) {
  CLI::App* make = app.add_subcommand("new", "Write a program for a model, with all that builds and tests it");
  auto flags = std::make_shared<NewFlags>();
  make->add_option("NAME", flags->folder, "The folder to make; its last part is the program's name")
      ->required()
      ->check(CheckFolder);
  make->add_option("--lang", flags->language, "The language. Python's and JavaScript's programs are components")
      ->type_name("c|c++|rust|go|zig|assemblyscript|python|js")
      ->required();
  make->add_flag("--component", flags->component, "Write a component instead of a core module");
  make->add_flag("--serve", flags->serve,
                 "Write a program that answers HTTP requests, behind a route of `wasinn serve`");
  make->add_option("--model", flags->model, "The model: a file or folder; default: the digits of `wasinn demo`")
      ->type_name("FILE");
  AddHostFlags(*make, &flags->host);
  make->footer(
      "Names, types and shapes are the model's. Existing files are never changed.\n\n"
      "Examples:\n  wasinn new hello --lang c\n  wasinn new detect --lang rust --model detect.onnx\n"
      "  wasinn new ask --lang go --model lm.gguf\n  wasinn new answer --lang python --serve");
  return {make, [flags] { return Run(*flags); }};
}

}  // namespace wasinn::cli
