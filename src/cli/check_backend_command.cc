// wasinn check-backend: checks the promises of backend.h on any backend.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <system_error>
#include <vector>

#include "check/contract.h"
#include "check/failures.h"
#include "check/subject_of.h"
#include "cli/child_checks.h"
#include "cli/command.h"
#include "cli/flags.h"
#include "cli/log.h"
#include "engines/read_file.h"
#include "settings/shapes.h"
#include "settings/text.h"

namespace wasinn::cli {
namespace {

namespace fs = std::filesystem;

struct CheckFlags {
  std::string library;
  std::string folder;  // contains only the library
  std::string backend_config = "{}";
  std::vector<std::string> files;
  check::SubjectOptions model;
  unsigned seconds = 60;
  bool json = false;
};

// A precondition of all checks. If one fails, the others do not run.
struct First {
  const char* name;
  const char* expects;
};
constexpr First kFirst[] = {{"AHostTakesIt", "a host finds the library, takes its table and opens its framework"},
                            {"TheModelLoads", "the model loads, and its signature can be used"}};
constexpr size_t kFirsts = std::size(kFirst);
constexpr First kLast = {"ItEndsAsItBegan", "the model unloads, and the backend closes"};
constexpr int kFailed = 1;  // the exit code if a check failed

size_t LastCheck() { return kFirsts + check::Checks().size(); }
size_t CountOfChecks() { return LastCheck() + 1; }
std::string NameOf(size_t check) {
  if (check == LastCheck()) return kLast.name;
  return check < kFirsts ? kFirst[check].name : check::Checks()[check - kFirsts].name;
}
std::string ExpectsOf(size_t check) {
  if (check == LastCheck()) return kLast.expects;
  return check < kFirsts ? kFirst[check].expects : check::Checks()[check - kFirsts].expects;
}

// A folder that only has the library, under the name that hosts look for. Other users cannot write there, and it is
// removed even if a check kills its child.
class FolderOf {
 public:
  explicit FolderOf(const std::string& library) {
    std::string path = fs::temp_directory_path() / "wasinn-check-XXXXXX";
    if (::mkdtemp(path.data()) == nullptr) {
      throw fs::filesystem_error("cannot make a folder", path, std::error_code(errno, std::system_category()));
    }
    path_ = path;
    fs::create_symlink(library, path_ / "libwasinn_backend_checked.so");
  }
  ~FolderOf() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  FolderOf(const FolderOf&) = delete;
  FolderOf& operator=(const FolderOf&) = delete;
  std::string path() const { return path_.string(); }

 private:
  fs::path path_;
};

// Its options are JSON, so numbers of any shape are no inputs for it.
bool TakesAPrompt(const check::Subject& subject) {
  const auto has = [&subject](const char* name) {
    return std::ranges::find(subject.inputs, name, &check::Port::name) != subject.inputs.end();
  };
  return has("prompt") && has("options");
}
constexpr char kTakesAPrompt[] =
    "the model is a language model, for it has the inputs 'prompt' and 'options': the checks are for models of tensors";

// A flag with a JSON object, which CLI11 checks.
CLI::Option* AddObject(CLI::App& app, const std::string& flag, std::string& text, const std::string& help) {
  const auto check = [](const std::string& given) -> std::string {
    const auto json = nlohmann::json::parse(given, nullptr, false);
    return json.is_object() ? "" : "'" + given + "' is not a JSON object such as {\"threads\": 1}";
  };
  return app.add_option(flag, text, help)->type_name("JSON")->check(check);
}

// The first key that the backend's table does not have for this use, "" if it has all.
std::string UnknownKey(const wasinn_backend& table, uint32_t place, const std::string& object) {
  const std::span known(table.keys, table.n_keys);
  const nlohmann::json keys = nlohmann::json::parse(object);
  for (const auto& [name, value] : keys.items()) {
    const bool is_known =
        std::ranges::any_of(known, [&](const wasinn_key& key) { return (key.where & place) != 0 && name == key.name; });
    if (!is_known) return name;
  }
  return "";
}

// "" if a host accepts it; else the host's reason.
std::string WhyNoHostTakes(const CheckFlags& flags) {
  Config config;
  if (Status status = config.Set("backend_dirs", fmt::format("[\"{}\"]", flags.folder)); !status.ok()) {
    return status.message();
  }
  const std::string name = check::Host::NameIn(flags.library);
  const nlohmann::json keys = nlohmann::json::parse(flags.backend_config);
  for (const auto& [key, value] : keys.items()) {  // values of JSON are values of TOML
    if (Status status = config.Set(fmt::format("backends.{}.{}", name, key), value.dump()); !status.ok()) {
      return status.message();
    }
  }
  // A host's report opens each installed framework, and the others are not to be checked.
  for (const char* other : {"llama", "onnx", "openvino", "tensorflow", "tflite", "torch"}) {
    if (name == other) continue;
    if (Status status = config.Set(fmt::format("backends.{}.library", other), "/nonexistent"); !status.ok()) {
      return status.message();
    }
  }
  std::string warnings;
  const auto add = [](void* user, const wasinn_log_record* record) {
    static_cast<std::string*>(user)->append(record->message).append("; ");
  };
  wasinn_host* made = nullptr;
  if (const Status status(wasinn_host_new(config.get(), add, &warnings, &made)); !status.ok()) return status.message();
  const std::unique_ptr<wasinn_host, void (*)(wasinn_host*)> host(made, wasinn_host_free);
  struct Found {
    const std::string name;
    std::string problem = "it is not among a host's backends";
  } found{name};
  wasinn_host_backends(
      host.get(),
      [](void* user, const wasinn_backend_report* report) {
        auto& wanted = *static_cast<Found*>(user);
        if (wanted.name != report->name) return;
        wanted.problem = report->available ? "" : report->missing;
      },
      &found);
  return found.problem.empty() ? "" : warnings + found.problem;
}

// Runs in a child: the backend is opened once for all checks there.
class Runner {
 public:
  Runner(const CheckFlags& flags, const CheckReporter& reporter) : flags_(flags), reporter_(reporter) {
    check::OnFailure([this](const char* file, int line, const std::string& text) {
      const std::lock_guard lock(mutex_);
      reporter_.Fail(fmt::format("{} ({}:{})", text, settings::LastComponent(file), line));
    });
    check::OnNothingToCheck([this](const std::string& why) { reporter_.Nothing(why); });
  }
  ~Runner() {
    check::OnFailure([](const char*, int, const std::string&) {});
    check::OnNothingToCheck([](const std::string&) {});
  }
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;

  void RunFrom(size_t first) {
    for (size_t check = first; check < CountOfChecks(); ++check) {
      reporter_.Begin(check);
      try {
        Run(check);
      } catch (const std::exception& error) {
        reporter_.Fail(error.what());
      }
      reporter_.End();
    }
  }

 private:
  void Run(size_t check) {
    if (check == 0) {
      if (const std::string why = WhyNoHostTakes(flags_); !why.empty()) reporter_.Fail(why);
      return;
    }
    if (session_ == nullptr && !Open()) return;
    if (check == LastCheck()) return End();
    if (check >= kFirsts) check::Checks()[check - kFirsts].run(*session_);
  }

  bool Open() {
    host_ = std::make_unique<check::Host>(flags_.backend_config, 2, flags_.library);
    if (!host_->opened()) return reporter_.Fail("it does not open: " + host_->opened().message), false;
    check::SubjectOptions model = flags_.model;
    if (const std::string unknown = UnknownKey(host_->table(), WASINN_KEY_MODEL, model.config); !unknown.empty()) {
      return reporter_.Fail("--model-config: the backend has no key '" + unknown + "' for models"), false;
    }
    if (model.format.empty()) model.format = check::FormatOf(host_->table(), flags_.files.front());
    if (model.format.empty()) return reporter_.Fail("--encoding must say which of its formats the model is"), false;
    auto subject = check::SubjectOf(*host_, model);
    if (!subject) return reporter_.Fail(subject.error()), false;
    if (TakesAPrompt(*subject)) return reporter_.Fail(kTakesAPrompt), false;
    session_ = std::make_unique<check::Session>(*host_, std::move(*subject));
    return true;
  }

  void End() {
    if (session_->model() == nullptr) return;
    session_.reset();
    host_.reset();
  }

  const CheckFlags& flags_;
  const CheckReporter& reporter_;
  std::mutex mutex_;
  std::unique_ptr<check::Host> host_;
  std::unique_ptr<check::Session> session_;
};

void PrintFailures(std::span<const std::string> failures) {
  constexpr size_t kMax = 8;  // the first ones show most
  for (const std::string& failure : failures.first(std::min(failures.size(), kMax))) {
    std::printf("      %s\n", settings::Printable(failure).c_str());
  }
  if (failures.size() > kMax) std::printf("      and %zu more\n", failures.size() - kMax);
}

const char* WordOf(const Outcome& outcome) {
  if (!outcome.failures.empty()) return "FAIL";
  return outcome.nothing.empty() ? "pass" : "n/a ";
}

void Print(size_t check, const Outcome& outcome) {
  std::printf("%s  %s: %s\n", WordOf(outcome), NameOf(check).c_str(), ExpectsOf(check).c_str());
  const bool nothing = outcome.failures.empty() && !outcome.nothing.empty();
  if (nothing) std::printf("      %s\n", settings::Printable(outcome.nothing).c_str());
  PrintFailures(outcome.failures);
  std::fflush(stdout);
}

using Json = nlohmann::ordered_json;

Json ToJson(size_t check, const Outcome& outcome) {
  const bool failed = !outcome.failures.empty();
  return {{"name", NameOf(check)},
          {"expects", ExpectsOf(check)},
          {"outcome", failed                    ? "failed"
                      : outcome.nothing.empty() ? "passed"
                                                : "nothing_to_check"},
          {"failures", outcome.failures},
          {"nothing", failed ? "" : outcome.nothing}};
}

struct Tally {
  size_t passed = 0, nothing = 0, ran = 0;
  Json checks = Json::array();
};

void PrintSum(const Tally& tally) {
  std::printf("\n%zu of %zu checks passed", tally.passed, CountOfChecks());
  if (tally.nothing > 0) std::printf(", %zu had nothing to look at", tally.nothing);
  if (tally.ran < CountOfChecks()) std::printf(", %zu were not run", CountOfChecks() - tally.ran);
  std::puts("");
}

int Run(CheckFlags& flags) {
  if (std::error_code error; !fs::is_regular_file(flags.library, error)) return Fail(flags.library + " is not a file");
  for (const std::string& file : flags.files) {
    if (settings::IsAddress(file)) {
      flags.model.parts.push_back(flags.model.address = file);
      continue;
    }
    auto bytes = engines::ReadFile(file);
    if (!bytes) return Fail(bytes.error());
    flags.model.parts.push_back(std::move(*bytes));
  }
  flags.library = fs::absolute(flags.library).string();
  const FolderOf folder(flags.library);
  flags.folder = folder.path();
  Tally tally;
  const auto done = [&](size_t check, const Outcome& outcome) {
    ++tally.ran;
    const bool failed = !outcome.failures.empty();
    if (!failed) ++(outcome.nothing.empty() ? tally.passed : tally.nothing);
    if (flags.json) {
      tally.checks.push_back(ToJson(check, outcome));
    } else {
      Print(check, outcome);
    }
    return !failed || check >= kFirsts;
  };
  RunInChildren({.count = CountOfChecks(),
                 .seconds = flags.seconds,
                 .run = [&](size_t first, const CheckReporter& reporter) { Runner(flags, reporter).RunFrom(first); },
                 .done = done});
  if (flags.json) {
    const Json json = {{"library", flags.library},
                       {"passed", tally.passed},
                       {"nothing_to_check", tally.nothing},
                       {"not_run", CountOfChecks() - tally.ran},
                       {"checks", tally.checks}};
    std::puts(json.dump(2, ' ', true, Json::error_handler_t::replace).c_str());
  } else {
    PrintSum(tally);
  }
  return tally.passed + tally.nothing == CountOfChecks() ? 0 : kFailed;
}

}  // namespace

Command AddCheckBackendCommand(CLI::App& app) {
  CLI::App* command = app.add_subcommand("check-backend", "Check a backend against the rules of backend.h");
  auto flags = std::make_shared<CheckFlags>();
  command->add_option("LIBRARY", flags->library, "The backend's library, libwasinn_backend_NAME.so")->required();
  command
      ->add_option("MODEL", flags->files,
                   "A model with outputs that depend only on its inputs: a file, or files of its parts")
      ->required();
  command->add_option("--encoding", flags->model.format, "The model's format, if the file's name does not show it")
      ->type_name("NAME");
  AddParsed<settings::Shapes::value_type>(
      *command, "--shape", settings::ParseShape,
      [flags](auto shape) { flags->model.shapes.insert_or_assign(shape.first, shape.second); },
      "The shape of an input with open dimensions; default: 2 for each")
      ->type_name("NAME=1x3x224");
  AddObject(*command, "--backend", flags->backend_config, "Keys of [backends.NAME], a JSON object");
  AddObject(*command, "--model-config", flags->model.config, "Keys of [models.NAME.config], a JSON object");
  command->add_option("--seconds", flags->seconds, "Time limit of each check; default 60")
      ->type_name("S")
      ->check(CLI::Range(1, 86'400).description(""));
  command->add_flag("--json", flags->json, "Print JSON at the end");
  command->footer(
      "The checks are for models of tensors. A language model takes a prompt, so it cannot be checked.\n\n"
      "Example:\n  wasinn check-backend libwasinn_backend_template.so double.affine");
  return {command, [flags] { return Run(*flags); }};
}

}  // namespace wasinn::cli
