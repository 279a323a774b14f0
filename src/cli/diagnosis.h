// The checks of `wasinn doctor` on this machine.
#pragma once

#include <string>
#include <vector>
#include <wasinn/wasinn.hpp>

namespace wasinn::cli {

struct Finding {
  enum class State {
    kOk,
    kMissing,  // other things work without it
    kProblem,  // something that is on by default does not work
  };
  State state = State::kOk;
  std::string area;        // "frameworks"
  std::string what;        // "onnx"
  std::string found;       // the result, or why there is none
  std::string remedy;      // the command or the setting that fixes it; "" if there is none
  std::string looked_for;  // files that were looked for, if a framework is missing

  static Finding Ok(std::string area, std::string what, std::string found) {
    return {State::kOk, std::move(area), std::move(what), std::move(found), "", ""};
  }
  static Finding Missing(std::string area, std::string what, std::string found, std::string remedy = "") {
    return {State::kMissing, std::move(area), std::move(what), std::move(found), std::move(remedy), ""};
  }
  static Finding Problem(std::string area, std::string what, std::string found, std::string remedy = "") {
    return {State::kProblem, std::move(area), std::move(what), std::move(found), std::move(remedy), ""};
  }
};

// Each may open frameworks and start workers.
std::vector<Finding> DiagnoseEngines();
// Whether this build runs components.
Finding DiagnoseComponents();
std::vector<Finding> DiagnoseFrameworks(const std::vector<BackendReport>& backends);
// Starts a worker for each available framework.
std::vector<Finding> DiagnoseWorkers(Host& host, const std::vector<BackendReport>& backends);
std::vector<Finding> DiagnoseGpu(const Host& host, const std::vector<BackendReport>& backends);
std::vector<Finding> DiagnoseSystem();

}  // namespace wasinn::cli
