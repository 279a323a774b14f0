// Shared by the tests of images and sounds.
#pragma once

#include <nlohmann/json.hpp>

#include "backends/expect.h"
#include "backends/llama_guest.h"
#include "backends/media_files.h"
#include "support/test.h"
#include "support/this_build.h"

namespace wasinn::test {

// A file of tests/models/projector.
inline std::string ProjectorPath(const std::string& name) {
  return testing::InSources("tests/models/projector/" + name);
}

// A host's model with a projector, and what else it says.
inline LoadOptions MediaOptions(const std::string& model, const std::string& projector, nlohmann::json config = {}) {
  config["projector"] = ProjectorPath(projector);
  config.emplace("temp", 0);
  config.emplace("n-predict", 24);
  return LlamaOptions(config.dump(), model);
}
inline LoadOptions TinyMediaOptions(const std::string& projector, const nlohmann::json& config = {}) {
  return MediaOptions(ModelPath("tiny.gguf"), projector, config);
}

// The file that the options name.
class FileModel : public LoadedModel {
 public:
  FileModel(const Host& host, const LoadOptions& options) : LoadedModel(host, ReadFile(options.path), options) {}
};

inline nlohmann::json ImagePart(const std::string& url) {
  return {{"type", "image_url"}, {"image_url", {{"url", url}}}};
}
inline nlohmann::json TextPart(const std::string& text) { return {{"type", "text"}, {"text", text}}; }
inline nlohmann::json SoundPart(const std::string& file) {
  return {{"type", "input_audio"}, {"input_audio", {{"data", Base64(file)}, {"format", "wav"}}}};
}

// One message of a user.
inline std::string Messages(const std::vector<nlohmann::json>& parts) {
  return nlohmann::json::array({{{"role", "user"}, {"content", parts}}}).dump();
}

// The model's answer to a message.
inline std::string Answer(Context* context, const std::vector<nlohmann::json>& parts,
                          const nlohmann::json& options = {{"chat", true}}) {
  const Result set = SetOptions(context, options.dump());
  if (!set) return set.message;
  const Result given = SetPrompt(context, Messages(parts));
  return given ? Complete(context) : given.message;
}

}  // namespace wasinn::test
