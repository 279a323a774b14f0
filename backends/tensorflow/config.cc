#include "tensorflow/config.h"

namespace wasinn::tensorflow {

using backend::Config;

namespace {

constexpr wasinn_key kKeys[] = {
    {"library", WASINN_KEY_BACKEND, "absolute path of libtensorflow_cc.so.2 or libtensorflow.so.2, or of its folder"},
    {"threads", WASINN_KEY_BACKEND,
     "threads that an operation may use, for all models together: 1 to the host's budget, which is the default; the "
     "first host in an OS process decides"},
    {"signature", WASINN_KEY_MODEL | WASINN_KEY_GUEST,
     "of a SavedModel; default serving_default, or else the first by name"},
    {"tags", WASINN_KEY_MODEL | WASINN_KEY_GUEST,
     "list of the tags of the graph in a SavedModel that is loaded; default [\"serve\"]"},
    {"outputs", WASINN_KEY_MODEL | WASINN_KEY_GUEST,
     "list of the outputs that the model shall have: names in the signature; of a frozen graph, any node or tensor: "
     "[\"scores\", \"split:1\"]"},
    {"allow_file_ops", WASINN_KEY_MODEL,
     "true: the model may have operations that reach files, the network or other code; default false; never for a "
     "guest's bytes"},
    backend::kOpLibrariesKey,
};

std::optional<std::vector<std::string>> Names(const Config& config, const char* key) {
  const auto list = config.NamedList(key);
  if (!list) return std::nullopt;
  std::vector<std::string> names;
  names.reserve(list->size());
  for (const Config::Named& one : *list) names.push_back(one.name);
  return names;
}

}  // namespace

std::span<const wasinn_key> Keys() { return kKeys; }

BackendConfig BackendConfig::Parse(const char* text, uint32_t budget) {
  const Config config(text, "[backends.tensorflow]");
  BackendConfig parsed;
  parsed.library = config.String("library").value_or("");
  parsed.threads = backend::BackendThreads(config, budget);
  return parsed;
}

ModelConfig ModelConfig::Parse(const char* host_text, const char* guest_text) {
  const Config host(host_text, "configuration of the model");
  const Config guest(guest_text, "configuration from the guest");
  ModelConfig parsed;
  parsed.signature = host.String("signature").value_or(guest.String("signature").value_or(""));
  parsed.tags = Names(host, "tags").value_or(Names(guest, "tags").value_or(std::vector<std::string>{"serve"}));
  parsed.outputs = Names(host, "outputs").value_or(std::vector<std::string>());
  parsed.allow_file_ops = host.Bool("allow_file_ops").value_or(false);
  parsed.op_libraries = host.AbsolutePaths("op_libraries");
  return parsed;
}

}  // namespace wasinn::tensorflow
