// wasinn/options.hpp - the options of hosts, models and guests: part of wasinn.hpp, which includes this.
#ifndef WASINN_OPTIONS_HPP_
#define WASINN_OPTIONS_HPP_

#include <wasinn/status.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace wasinn {

// Called from any thread, even concurrently, with a step that has ended. Must not call wasinn, must not throw.
using SpanFunction = std::function<void(const wasinn_span& span)>;

// Settings of a host; docs/configuration.md lists the keys. A later setting replaces an earlier one.
class Config {
 public:
  Config() : config_(wasinn_config_new()) {}

  // Relative paths in the file are relative to the file's folder.
  Status LoadFile(const std::string& path) {
    return internal::CallWith("the path", path, [&](const char* c) { return wasinn_config_load_file(get(), c); });
  }
  // Relative paths are relative to the working directory, here and in Set.
  Status LoadToml(const std::string& toml) {
    return internal::CallWith("the TOML text", toml, [&](const char* c) { return wasinn_config_load_toml(get(), c); });
  }
  // `key` is dotted: "limits.max_graphs". `value` is a TOML value; any other text is a string.
  Status Set(const std::string& key, const std::string& value) {
    if (Status status = internal::CheckText("the key", key); !status.ok()) return status;
    return internal::CallWith("the value", value,
                              [&](const char* c) { return wasinn_config_set(get(), key.c_str(), c); });
  }
  // Each host that is made from this config afterwards calls `function` for its spans, until the host and all its
  // guests are gone. An empty function ends that.
  void OnSpan(SpanFunction function) {
    spans_ = function ? std::make_shared<SpanFunction>(std::move(function)) : nullptr;
    const auto tell = [](void* user, const wasinn_span* span) { (*static_cast<const SpanFunction*>(user))(*span); };
    wasinn_config_on_span(get(), spans_ ? +tell : nullptr, spans_.get());
  }

  wasinn_config* get() { return config_.get(); }
  const wasinn_config* get() const { return config_.get(); }

 private:
  friend class Host;
  std::shared_ptr<SpanFunction> spans_;
  std::unique_ptr<wasinn_config, internal::Free<wasinn_config_free>> config_;
};

// Limits of one guest. Host::limits() returns the host's defaults.
struct Limits : wasinn_limits {
 private:
  friend class Host;
  Limits() : wasinn_limits() { struct_size = sizeof(wasinn_limits); }
};

// Limits of one guest's program; see wasinn_engine_limits. Host::engine_limits() returns the host's.
struct EngineLimits : wasinn_engine_limits {
 private:
  friend class Host;
  EngineLimits() : wasinn_engine_limits() { struct_size = sizeof(wasinn_engine_limits); }
};

// The rights of one guest; see wasinn_policy. Start from Host::policy(): a new Policy only allows registered models.
struct Policy {
  wasinn_load load = WASINN_LOAD_DENY;
  bool cpu_fallback = false;
  uint32_t targets = 0;                               // 1u << Target for each that load accepts
  std::optional<std::vector<std::string>> models;     // names for load_by_name. No value: every registered one
  std::optional<std::vector<std::string>> encodings;  // formats that load accepts. No value: every one
  wasinn_dialect dialect = WASINN_DIALECT_DEFAULT;
  std::string tenant;  // empty: the guest shares workers with no other
  uint32_t weight = 1;
  std::vector<std::string> allowed_outbound_hosts;
  bool isolated_gpu = false;
};

// The section [engine] of the settings.
struct EngineOptions : wasinn_engine_options {
  EngineOptions() : wasinn_engine_options() { struct_size = sizeof(wasinn_engine_options); }
};

// How the host computes inferences of separate guests together; see wasinn_batching.
struct Batching {
  uint32_t max_batch_size = 0;  // 0: no batching
  std::vector<uint32_t> preferred_batch_size;
  uint32_t max_queue_delay_microseconds = 0;
  uint32_t instance_count = 0;
};

// One model of a pipeline; see wasinn_step.
struct Step {
  std::string model_name;  // must be registered when the pipeline is loaded
  // From the model's name of a tensor to the pipeline's name. Empty: the pipeline uses the model's names.
  std::map<std::string, std::string> input_map, output_map;
};

namespace internal {
// data() is never NULL, which the C API takes as no list. It has the size of `strings`, and a NULL follows.
inline std::vector<const char*> ToC(const std::vector<std::string>& strings) {
  std::vector<const char*> pointers;
  pointers.reserve(strings.size() + 1);
  for (const std::string& string : strings) pointers.push_back(string.c_str());
  pointers.push_back(nullptr);
  return pointers;
}

inline std::vector<std::string> FromC(const char* const* strings, size_t n) {
  return n == 0 ? std::vector<std::string>() : std::vector<std::string>(strings, strings + n);
}

inline Policy FromC(const wasinn_policy& c) {
  Policy policy;
  policy.load = static_cast<wasinn_load>(c.load);
  policy.cpu_fallback = c.cpu_fallback;
  policy.targets = c.targets;
  if (c.models != nullptr) policy.models = FromC(c.models, c.n_models);
  if (c.encodings != nullptr) policy.encodings = FromC(c.encodings, c.n_encodings);
  policy.dialect = static_cast<wasinn_dialect>(c.dialect);
  policy.tenant = ToString(c.tenant);
  policy.weight = c.weight;
  policy.allowed_outbound_hosts = FromC(c.allowed_outbound_hosts, c.n_allowed_outbound_hosts);
  policy.isolated_gpu = c.isolated_gpu;
  return policy;
}

// The policy as wasinn_guest_options takes it. It points into `policy`, which must live longer.
class PolicyAsC {
 public:
  explicit PolicyAsC(const Policy& policy) : hosts_(ToC(policy.allowed_outbound_hosts)) {
    c_.struct_size = sizeof c_;
    c_.load = policy.load;
    c_.cpu_fallback = policy.cpu_fallback;
    c_.targets = policy.targets;
    if (policy.models) {
      models_ = ToC(*policy.models);
      c_.models = models_.data();
      c_.n_models = policy.models->size();
    }
    if (policy.encodings) {
      encodings_ = ToC(*policy.encodings);
      c_.encodings = encodings_.data();
      c_.n_encodings = policy.encodings->size();
    }
    c_.dialect = policy.dialect;
    c_.tenant = policy.tenant.c_str();
    c_.weight = policy.weight;
    c_.allowed_outbound_hosts = hosts_.data();
    c_.n_allowed_outbound_hosts = policy.allowed_outbound_hosts.size();
    c_.isolated_gpu = policy.isolated_gpu;
  }
  PolicyAsC(const PolicyAsC&) = delete;
  PolicyAsC& operator=(const PolicyAsC&) = delete;
  const wasinn_policy* get() const { return &c_; }

 private:
  std::vector<const char*> models_, encodings_, hosts_;
  wasinn_policy c_ = {};
};

inline Status CheckTexts(const Policy& policy) {
  if (Status status = CheckText("policy.tenant", policy.tenant); !status.ok()) return status;
  for (const auto& [what, list] :
       {std::pair{"policy.models", &policy.models}, std::pair{"policy.encodings", &policy.encodings}}) {
    if (!*list) continue;
    if (Status status = CheckTexts(what, **list); !status.ok()) return status;
  }
  return CheckTexts("policy.allowed_outbound_hosts", policy.allowed_outbound_hosts);
}

// The steps as wasinn_model_options takes them. They point into `steps`, which must live longer.
class Steps {
 public:
  explicit Steps(const std::vector<Step>& steps) {
    for (const Step& step : steps) {
      names_.push_back(ToC(step.input_map));
      names_.push_back(ToC(step.output_map));
    }
    for (size_t i = 0; i < steps.size(); ++i) {
      wasinn_step c = {};
      c.struct_size = sizeof c;
      c.model_name = steps[i].model_name.c_str();
      c.input_map = names_[2 * i].data();
      c.n_input_map = names_[2 * i].size();
      c.output_map = names_[2 * i + 1].data();
      c.n_output_map = names_[2 * i + 1].size();
      steps_.push_back(c);
    }
    pointers_.reserve(steps_.size());
    for (const wasinn_step& step : steps_) pointers_.push_back(&step);
  }
  const wasinn_step* const* data() const { return pointers_.data(); }

 private:
  static std::vector<wasinn_tensor_name> ToC(const std::map<std::string, std::string>& map) {
    std::vector<wasinn_tensor_name> names;
    names.reserve(map.size());
    for (const auto& [model, pipeline] : map) names.push_back({model.c_str(), pipeline.c_str()});
    return names;
  }

  std::vector<std::vector<wasinn_tensor_name>> names_;
  std::vector<wasinn_step> steps_;
  std::vector<const wasinn_step*> pointers_;
};
}  // namespace internal

// A model that guests load by name: a file, a folder, bytes, or a pipeline of models. See wasinn_model_options.
struct ModelOptions {
  std::string path;  // a model file, or a folder in the layout of Triton and Wasmtime; empty with `builders` or `steps`
  std::vector<wasinn_bytes> builders;  // the model's bytes, most often one element; AddModel copies them
  std::string backend;                 // the backend's name; empty: the usual one for the encoding
  std::string encoding;                // the format's name; empty: recognised from the file's name or the bytes
  Target target = WASINN_TARGET_CPU;
  uint32_t version = 0;  // guests ask for "NAME:2"; 0: the folder's versions, or 1
  std::string config;    // JSON object for the backend; empty: {}
  bool isolate = false;  // run it in a worker of its own; false: the host's setting isolate_models decides
  uint32_t warm_up = 0;  // computes on zeros at the end of a load, before any guest gets the model
  Batching batching;
  bool immutable = false;  // the file never changes: map it, do not copy it
  bool preload = false;    // compile in AddModel, which then returns the model's errors
  // A pipeline, instead of path and builders. One compute of it computes these models, in this order.
  std::vector<Step> steps;
  std::vector<std::string> inputs;   // the pipeline's inputs; empty: the tensors that no step produces
  std::vector<std::string> outputs;  // the pipeline's outputs; empty: the tensors that no step takes
};

namespace internal {
inline Status CheckTexts(const ModelOptions& options) {
  for (const auto& [what, text] :
       {std::pair{"the path", &options.path}, std::pair{"the backend", &options.backend},
        std::pair{"the encoding", &options.encoding}, std::pair{"the config", &options.config}}) {
    if (Status status = CheckText(what, *text); !status.ok()) return status;
  }
  for (const Step& step : options.steps) {
    if (Status status = CheckText("a step's model name", step.model_name); !status.ok()) return status;
    if (Status status = CheckTexts("a name in input_map", step.input_map); !status.ok()) return status;
    if (Status status = CheckTexts("a name in output_map", step.output_map); !status.ok()) return status;
  }
  if (Status status = CheckTexts("an input's name", options.inputs); !status.ok()) return status;
  return CheckTexts("an output's name", options.outputs);
}
}  // namespace internal

// The options of one guest.
struct GuestOptions {
  std::string name;              // for the log
  std::optional<Limits> limits;  // no value: the host's
  std::optional<Policy> policy;  // no value: the host's
  // Gets each piece of a text as it comes, as in wasinn_guest_options. Must not throw.
  std::function<void(std::string_view piece)> print;
  // An open guest with which this one counts as one, as in wasinn_guest_options. NULL: none.
  wasinn_guest* on_behalf_of = nullptr;
};

}  // namespace wasinn

#endif  // WASINN_OPTIONS_HPP_
