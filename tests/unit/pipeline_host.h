// Hosts whose settings have pipelines of echo models.
#pragma once

#include "support/files.h"
#include "support/test.h"
#include "support/this_build.h"
#include "unit/bytes_guest.h"

namespace wasinn::testing {

class PipelineTest : public ::testing::Test {
 protected:
  // A model of these directives, with further settings of its own.
  void Model(const std::string& name, const std::string& directives, const std::string& settings = "") {
    const std::string path = folder_.Write(name + ".gguf", EchoModel(directives));
    models_ += "[models." + name + "]\npath = '" + path + "'\n" + settings;
  }
  // `step`: the text of the array.
  void Pipeline(const std::string& name, const std::string& step, const std::string& settings = "") {
    models_ += "[models." + name + "]\nstep = [" + step + "]\n" + settings;
  }
  // x -> a, a -> b, … through models "m1", "m2", …: each is one of these directives.
  void Chain(const std::string& name, const std::vector<std::string>& models) {
    std::string steps;
    for (size_t i = 0; i < models.size(); ++i) {
      const std::string model = "m" + std::to_string(i + 1);
      Model(model, "in x u8 4\n" + models[i]);
      steps += "{model_name = '" + model + "', input_map = {x = 't" + std::to_string(i) + "'}, output_map = {x = 't" +
               std::to_string(i + 1) + "'}}, ";
    }
    Pipeline(name, steps);
  }
  std::string Settings(const std::string& more) const { return "worker = '" + WorkerFile() + "'\n" + more + models_; }
  HostPtr Host(const std::string& more = "") { return EchoHost(log_, Settings(more)); }
  // The error of a model's load, or "".
  std::string LoadError(const HostPtr& host, const char* name) {
    const StatusPtr status(
        wasinn_host_inspect(host.get(), name, [](void*, bool, uint32_t, const wasinn_io*) {}, nullptr));
    return status == nullptr ? "" : wasinn_status_message(status.get());
  }

  Log log_;

 private:
  const TestFolder folder_;
  std::string models_;
};

}  // namespace wasinn::testing
