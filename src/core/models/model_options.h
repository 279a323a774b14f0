// The configuration of a named model.
#pragma once

#include <wasinn/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/status.h"

// A pipeline: models that are computed one after the other, in the words of Triton's ensembles.
namespace wasinn::pipeline {

// From names of a model's tensors to names in the pipeline.
using Names = std::map<std::string, std::string>;

struct StepSpec {
  std::string model_name;
  Names input_map, output_map;  // none: the tensors have the model's names
};

struct Spec {
  std::vector<StepSpec> steps;       // empty: it is no pipeline
  std::vector<std::string> inputs;   // empty: the tensors that no step makes
  std::vector<std::string> outputs;  // empty: those that no step takes
  bool empty() const { return steps.empty(); }
};

}  // namespace wasinn::pipeline

namespace wasinn::core {

class Blob;

// Joins inferences of separate guests on one model into batches: "dynamic batching" in Triton's words.
struct Batching {
  static constexpr uint32_t kMaxRows = 4096, kMaxInstances = 256;

  uint32_t max_batch_size = 0;                 // rows: the first dimension of each input and output; 0: no batches
  std::vector<uint32_t> preferred_batch_size;  // a batch of this size waits for no more rows
  uint32_t max_queue_delay_microseconds = 0;   // how long an inference waits for others
  // How many batches compute at once; 0: as many as there are processors for the threads of each.
  uint32_t instance_count = 0;

  bool is_on() const { return max_batch_size > 0; }
  // INVALID_ARGUMENT if the settings contradict each other.
  Status Check() const;
};

// Computes before any guest has the model.
struct WarmUp {
  static constexpr uint32_t kMaxComputes = 1000;
  uint32_t computes = 0;
  std::map<std::string, std::vector<uint32_t>> shapes;  // for inputs whose shapes the signature does not fix
};

struct ModelOptions {
  std::string name;
  std::string path;                                // or an address; or
  std::vector<std::shared_ptr<const Blob>> parts;  // bytes; or
  pipeline::Spec pipeline;
  std::string encoding;  // a format's name; "": recognised from the file
  wasinn_target target = WASINN_TARGET_CPU;
  uint32_t version = 0;  // 0: the folder's versions, or 1
  std::string config = "{}";
  std::string backend;  // "": the default for the encoding
  bool immutable = false;
  bool preload = false;
  // Runs in a worker, like models of guests. No value: HostOptions::isolate_models decides.
  std::optional<bool> isolate = std::nullopt;
  WarmUp warm_up;
  Batching batching;
};

}  // namespace wasinn::core
