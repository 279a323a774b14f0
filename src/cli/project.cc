#include "cli/project.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <ranges>
#include <set>
#include <utility>

#include "artifacts/program.h"
#include "cli/own_prefix.h"
#include "cli/signature_text.h"
#include "cli/template_text.h"
#include "engines/read_file.h"
#include "settings/text.h"

namespace wasinn::cli {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr char kSettings[] = "template.json";
constexpr char kBase[] = "base";
constexpr char kServer[] = "-serve";     // the ending of templates of programs that answer requests
constexpr char kText[] = "-text";        // and of those for language models
constexpr char kPlace[] = ".in";         // the ending of files with places for values
constexpr int64_t kMaxValues = 1 << 28;  // in a guest's memory
constexpr int64_t kUnknownRoom = 65536;  // elements of an output whose size is not known before a run

fs::path Templates() { return ShareFolder() / "new"; }

std::expected<Json, std::string> ReadSettings(const std::string& template_name) {
  const fs::path path = Templates() / template_name / kSettings;
  const auto text = engines::ReadFile(path);
  if (!text) return std::unexpected(text.error());
  Json settings = Json::parse(*text, nullptr, false);
  if (!settings.is_object()) return std::unexpected(path.string() + " is no JSON");
  if (!settings.contains(kBase)) return settings;
  auto all = ReadSettings(settings[kBase]);
  if (all) all->merge_patch(settings);
  return all;
}

// In a string of every language here, and in a comment.
std::string Escaped(const std::string& name) {
  std::string escaped;
  for (const char c : name) escaped += c == '"' || c == '\\' ? std::string("\\") + c : std::string(1, c);
  return escaped;
}

// "input_image" for "Image:0" if that is not taken.
std::string IdOf(const std::string& prefix, const std::string& name, size_t index, std::set<std::string>& taken) {
  std::string id = prefix + "_";
  for (const char c : name) {
    const bool is_plain = std::isalnum(static_cast<unsigned char>(c)) != 0 && static_cast<unsigned char>(c) < 128;
    if (is_plain) id += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    if (!is_plain && !id.ends_with('_')) id += '_';
  }
  if (name.empty() || taken.contains(id)) id += "_" + std::to_string(index);
  taken.insert(id);
  return id;
}

// An open dim is 1. At most kMaxValues.
int64_t ValueCount(const Io& io) {
  int64_t count = 1;
  for (const int64_t dim : io.dims) count = std::min(count * std::clamp<int64_t>(dim, 1, kMaxValues), kMaxValues);
  return count;
}

// The first dim is mostly a batch, whose size is that of the inputs if theirs is open, too.
bool HasUnknownSize(const Io& output, const std::vector<Io>& inputs) {
  const bool has_batch =
      std::ranges::any_of(inputs, [](const Io& input) { return !input.dims.empty() && input.dims.front() < 0; });
  return !output.has_rank ||
         std::ranges::any_of(output.dims | std::views::drop(has_batch ? 1 : 0), [](int64_t dim) { return dim < 0; });
}

std::string DimsOf(const Io& io) {
  std::string dims;
  for (const int64_t dim : io.dims) dims += (dims.empty() ? "" : ", ") + std::to_string(dim < 0 ? 1 : dim);
  return dims;
}

// The ports that a program uses, and texts, which it leaves out.
struct Values {
  Json used = Json::array(), texts = Json::array();
};

std::expected<Values, std::string> ValuesOf(const ProjectModel& model, bool are_inputs, const Json& settings,
                                            std::set<std::string>& taken) {
  const std::vector<Io>& ios = are_inputs ? model.signature.inputs : model.signature.outputs;
  const std::string what = are_inputs ? "input" : "output";
  Values all;
  for (size_t i = 0; i < ios.size(); ++i) {
    const Io& io = ios[i];
    const std::string shown = settings::PrintableName(io.name), type = TypeOf(io);
    const Json types = settings.value("types", Json::object());
    std::string why;
    if (shown != io.name) why = "has a name with control characters";
    if (why.empty() && IsText(io) && are_inputs) {
      return std::unexpected(fmt::format(
          "input '{}' is a text, which templates take in no language; `wasinn serve` serves the model as it is",
          shown));
    }
    if (why.empty() && IsText(io)) {
      all.texts.push_back({{"index", std::to_string(i)}, {"label", Escaped(io.name)}});
      continue;
    }
    if (ValueCount(io) == kMaxValues) why = "is too large";
    if (why.empty() && !types.contains(type)) why = "is " + type;
    if (!why.empty()) {
      return std::unexpected(fmt::format("{} '{}' {}, and no template for {} takes that", what, shown, why,
                                         settings.value("language", "")));
    }
    const std::string dims = DimsOf(io);
    Json values = types[type];
    const bool has_room = !are_inputs && HasUnknownSize(io, model.signature.inputs);
    values.update({{"index", std::to_string(i)},
                   {"label", Escaped(io.name)},
                   {"id", IdOf(what, io.name, i, taken)},
                   {"dtype", type},
                   {"shape", ShapeOf(io)},
                   {"dims", dims},
                   {"dims_or_1", dims.empty() ? "1" : dims},
                   {"rank", std::to_string(io.dims.size())},
                   {"count", std::to_string(has_room ? std::max(ValueCount(io), kUnknownRoom) : ValueCount(io))}});
    all.used.push_back(std::move(values));
  }
  return all;
}

// A file with the same name in two folders is both texts, that of the later folder first.
std::expected<void, std::string> AddFiles(const fs::path& folder, const Json& values, Project& project) {
  std::error_code failed;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder, failed)) {
    if (entry.is_directory() || entry.path().filename() == kSettings) continue;
    const auto text = engines::ReadFile(entry.path());
    if (!text) return std::unexpected(text.error());
    fs::path name = entry.path().lexically_relative(folder);
    if (name.extension() != kPlace) {
      project.files[name] = *text;
      continue;
    }
    auto filled = FillTemplate(*text, values);
    if (!filled) return std::unexpected(entry.path().string() + ": " + filled.error());
    std::string& whole = project.files[name.replace_extension()];
    whole.insert(0, *filled);
  }
  if (failed) return std::unexpected("cannot read " + folder.string() + ": " + failed.message());
  return {};
}

// Whether the compiler of Rust has a standard library for the target: it is a file of rustc's.
fs::path FindRustTarget(const std::string& target) {
  const std::string compiler = artifacts::FindProgram("rustc");
  if (compiler.empty()) return {};
  constexpr uint64_t kMost = 1 << 20;
  auto printed = artifacts::RunProgram({.command = {compiler, "--print", "target-libdir", "--target", target},
                                        .folder = "",
                                        .timeout = std::chrono::minutes(1),
                                        .most_file_bytes = kMost,
                                        .most_output_bytes = kMost});
  if (!printed) return {};
  const fs::path folder = printed->substr(0, printed->find('\n'));
  std::error_code ignored;
  return fs::exists(folder, ignored) ? folder : fs::path();
}

// `wanted`: programs, or files with a path, of which one is enough. Empty: none is here.
fs::path FindAny(const Json& wanted) {
  for (const Json& one : wanted) {
    const std::string name = one.get<std::string>();
    std::error_code ignored;
    const fs::path found = name.find('/') == name.npos ? fs::path(artifacts::FindProgram(name))
                           : fs::exists(name, ignored) ? fs::path(name)
                                                       : fs::path();
    if (!found.empty()) return found;
  }
  return {};
}

// A need of a template: programs or files, "any"; or a target of Rust. "deps": the argument of scripts/deps.sh that gets
// it in a source tree, where it is not on PATH.
Finding DiagnoseNeed(const std::string& template_name, const Json& need) {
  const bool is_target = need.contains("rust_target");
  const std::string first = is_target ? need["rust_target"] : need["any"][0];
  const fs::path found = is_target ? FindRustTarget(first) : FindAny(need["any"]);
  if (!found.empty()) return Finding::Ok("guests", template_name, found);
  const std::string missing = is_target ? "rustc has no target " + first : "no " + first;
  const fs::path source = need.contains("deps") ? SourceFolder() : fs::path();
  if (source.empty()) return Finding::Missing("guests", template_name, missing, need["get"]);
  const fs::path tools = source / ".deps" / "component-tools" / "bin";
  std::error_code ignored;
  if (!fs::exists(tools / first, ignored)) {
    return Finding::Missing("guests", template_name, missing,
                            fmt::format("scripts/deps.sh {}", need["deps"].get<std::string>()));
  }
  return Finding::Missing("guests", template_name, fmt::format("{} is not on PATH, but in {}", first, tools.string()),
                          fmt::format("export PATH={}:$PATH", tools.string()));
}

std::vector<Finding> DiagnoseNeeds(const std::string& template_name) {
  std::vector<Finding> findings;
  const auto settings = ReadSettings(template_name);
  if (!settings) return findings;
  for (const Json& need : settings->value("needs", Json::array()))
    findings.push_back(DiagnoseNeed(template_name, need));
  return findings;
}

}  // namespace

std::vector<std::string> TemplateNames() {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(Templates(), ignored)) {
    if (fs::exists(entry.path() / kSettings, ignored)) names.push_back(entry.path().filename());
  }
  std::ranges::sort(names);
  return names;
}

std::expected<Project, std::string> MakeProject(const std::string& template_name, const std::string& name,
                                                const ProjectModel& model, const std::string& command) {
  const auto settings = ReadSettings(template_name);
  if (!settings) return std::unexpected(settings.error());
  const bool is_server = template_name.ends_with(kServer), is_text = template_name.ends_with(kText);
  std::set<std::string> taken;
  std::expected<Values, std::string> inputs, outputs;
  if (!is_text) {  // whose ports are those of every language model
    inputs = ValuesOf(model, true, *settings, taken);
    if (!inputs) return std::unexpected(inputs.error());
    outputs = ValuesOf(model, false, *settings, taken);
    if (!outputs) return std::unexpected(outputs.error());
    if (outputs->used.empty() && !outputs->texts.empty())
      return std::unexpected(
          "the outputs are texts, which templates read in no language; `wasinn serve` serves the model as it is");
  }
  Json values = *settings;
  const Json once = Json::array({Json::object()}), never = Json::array();
  values.update({{"name", name},
                 {"model", model.name},
                 {"model_path", model.path},
                 {"wasinn", command},
                 {"inputs", inputs->used},
                 {"outputs", outputs->used},
                 {"texts", outputs->texts},
                 {"asks", is_text ? " that asks a language model" : ""},
                 {"program", is_server ? never : once},
                 {"server", is_server ? once : never},
                 {"text", is_text ? once : never},
                 {"table", is_text ? never : once},
                 {"zeros", is_server || is_text ? never : once}});
  Project project;
  for (const std::string& folder : {std::string("common"), template_name}) {
    if (auto added = AddFiles(Templates() / folder, values, project); !added) return std::unexpected(added.error());
  }
  const Json kit = settings->value("kit", Json::object());
  for (const auto& [from, to] : kit.items()) {
    project.copies[to.get<std::string>()] = KitFolder() / from;
  }
  return project;
}

std::vector<Finding> DiagnoseGuests(const std::string& template_name) {
  std::vector<Finding> findings = DiagnoseNeeds(template_name);
  if (template_name.contains("-component")) findings.push_back(DiagnoseComponents());
  return findings;
}

std::vector<Finding> DiagnoseGuests() {
  std::vector<Finding> findings;
  for (const std::string& name : TemplateNames()) {
    if (name.ends_with(kServer) || name.ends_with(kText)) continue;  // needs what other programs in its language need
    std::vector<Finding> found = DiagnoseNeeds(name);
    // The first that is missing: its command gets all.
    const auto missing = std::ranges::find(found, Finding::State::kMissing, &Finding::state);
    if (!found.empty()) findings.push_back(missing == found.end() ? found.front() : *missing);
  }
  return findings;
}

}  // namespace wasinn::cli
