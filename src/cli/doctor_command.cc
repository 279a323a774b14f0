// wasinn doctor: reports what is missing on this machine, and how to get it.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/diagnosis.h"
#include "cli/host_flags.h"
#include "cli/log.h"
#include "cli/project.h"
#include "cli/table.h"
#include "settings/text.h"

namespace wasinn::cli {
namespace {

constexpr int kSick = 1;

struct DoctorFlags {
  HostFlags host;
  bool json = false;
};

const char* WordOf(Finding::State state) {
  if (state == Finding::State::kOk) return "ok";
  return state == Finding::State::kMissing ? "missing" : "problem";
}

std::string ToJson(const std::vector<Finding>& findings) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const Finding& finding : findings) {
    json.push_back({{"area", finding.area},
                    {"what", finding.what},
                    {"state", WordOf(finding.state)},
                    {"found", finding.found},
                    {"remedy", finding.remedy}});
    if (!finding.looked_for.empty()) json.back()["looked_for"] = finding.looked_for;
  }
  return json.dump(2, ' ', true, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

// A remedy that the message names is not printed twice.
std::string RemediesOf(const std::vector<Finding>& findings, Finding::State state, const char* title) {
  std::string text;
  for (const Finding& finding : findings) {
    if (finding.state != state) continue;
    if (text.empty()) text = fmt::format("\n{}:\n", title);
    text += fmt::format("  {} ({}): {}\n", finding.what, finding.area, settings::Printable(finding.found));
    const bool is_said = finding.found.contains(finding.remedy);
    if (!is_said) text += fmt::format("    {}\n", finding.remedy);
  }
  return text;
}

std::string ToText(const std::vector<Finding>& findings) {
  Table table({"AREA", "WHAT", "STATE", "FOUND"});
  std::string area;
  for (const Finding& finding : findings) {
    const bool is_ok = finding.state == Finding::State::kOk;
    table.Add({finding.area == area ? "" : finding.area, finding.what, WordOf(finding.state),
               is_ok ? settings::Printable(finding.found) : "see below"});
    area = finding.area;
  }
  return table.ToString() + RemediesOf(findings, Finding::State::kMissing, "Missing") +
         RemediesOf(findings, Finding::State::kProblem, "Problems");
}

std::vector<Finding> Diagnose(const HostFlags& flags) {
  std::vector<Finding> all = DiagnoseEngines();
  const auto add = [&all](std::vector<Finding> more) { all.insert(all.end(), more.begin(), more.end()); };
  Result<Host> host = MakeHost(flags);
  if (host) {
    const std::vector<BackendReport> backends = host->Backends();
    add(DiagnoseFrameworks(backends));
    add(DiagnoseWorkers(*host, backends));
    add(DiagnoseGpu(*host, backends));
  } else {
    add({Finding::Problem("settings", flags.config_file, host.status().message(), "docs/configuration.md")});
  }
  add(DiagnoseGuests());
  add(DiagnoseSystem());
  return all;
}

int Run(const DoctorFlags& flags) {
  const std::vector<Finding> findings = Diagnose(flags.host);
  std::fputs((flags.json ? ToJson(findings) : ToText(findings)).c_str(), stdout);
  const bool is_sick =
      std::ranges::any_of(findings, [](const Finding& finding) { return finding.state == Finding::State::kProblem; });
  return is_sick ? kSick : 0;
}

}  // namespace

Command AddDoctorCommand(CLI::App& app) {
  CLI::App* doctor = app.add_subcommand("doctor", "Show what is missing on this machine, and how to get it");
  auto flags = std::make_shared<DoctorFlags>();
  doctor->add_flag("--json", flags->json, "Print JSON");
  doctor->footer(
      "Opens each framework and starts a worker for it. Exits with 1 if something that is on by default does\n"
      "not work. A missing framework is no such problem if another one is there.\n\n"
      "Example:\n  wasinn doctor");
  AddHostFlags(*doctor, &flags->host);
  return {doctor, [flags] { return Run(*flags); }};
}

}  // namespace wasinn::cli
