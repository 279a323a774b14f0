#include "remote/openai.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <grpc/slice.h>
#include <inference.pb.h>

#include <algorithm>
#include <mutex>
#include <optional>
#include <set>
#include <utility>

#include "base/json.h"
#include "common/error.h"
#include "remote/exchange.h"
#include "remote/json.h"
#include "remote/protocol.h"

namespace wasinn::remote {

using backend::Config;
using backend::Error;

namespace {

constexpr const char *kPrompt = "prompt", *kOptions = "options";
// Parsed options take many times their bytes. The same limit as for configurations.
constexpr size_t kMaxOptions = size_t{256} << 10;
// A guest with more unknown keys makes them up.
constexpr size_t kMaxReported = 64;

std::string_view TextOf(const Inputs& inputs, std::string_view name) {
  for (const Inputs::Input* one : inputs.set()) {
    if (one->port->name == name) return {static_cast<const char*>(one->data), one->bytes};
  }
  return {};
}

AnsweredTensor Tensor(const char* name, const char* datatype, std::vector<int64_t> dims, bool is_optional = false) {
  AnsweredTensor tensor;
  tensor.name = name;
  tensor.datatype = datatype;
  tensor.dims = std::move(dims);
  tensor.is_optional = is_optional;
  return tensor;
}

AnsweredTensor Text(const char* name, std::string text) {
  AnsweredTensor tensor = Tensor(name, "BYTES", {1});
  inference::InferTensorContents contents;
  *contents.add_bytes_contents() = std::move(text);
  tensor.contents = contents.SerializeAsString();
  return tensor;
}

AnsweredTensor Embeddings(const LanguageAnswer& answer) {
  const auto rows = static_cast<int64_t>(answer.texts);
  const auto length = rows == 0 ? 0 : static_cast<int64_t>(answer.embeddings.size()) / rows;
  AnsweredTensor tensor = Tensor("embeddings", "FP32", {rows, length});
  inference::InferTensorContents contents;
  contents.mutable_fp32_contents()->Add(answer.embeddings.begin(), answer.embeddings.end());
  tensor.contents = contents.SerializeAsString();
  return tensor;
}

// Returns the server's answer, if it has such a path.
std::optional<Reply> AskIfFound(const Protocol::Ask& ask, const std::string& path) {
  try {
    return ask({.path = path, .has_body = false});
  } catch (const Error& error) {
    if (error.code() != WASINN_ERROR_NOT_FOUND && error.code() != WASINN_ERROR_UNSUPPORTED_OPERATION) throw;
    return std::nullopt;
  }
}

std::string Shown(const std::vector<std::string>& models) {
  constexpr size_t kMax = 8;
  const size_t n = std::min(models.size(), kMax);
  return Quoted(fmt::format("{}{}", fmt::join(models.begin(), models.begin() + static_cast<ptrdiff_t>(n), ", "),
                            models.size() > n ? ", …" : ""));
}

const char* PathOf(Api api) {
  switch (api) {
    case kChat:
      return "/chat/completions";
    case kCompletions:
      return "/completions";
    case kEmbeddings:
      return "/embeddings";
  }
  return "";
}

// The text before and after the prompt.
std::string_view Before(const LanguageSettings& settings) {
  if (settings.api() != kChat) return settings.api() == kCompletions ? R"("prompt":)" : R"("input":)";
  return settings.has_messages() ? R"("messages":)" : R"("messages":[{"role":"user","content":)";
}
std::string_view Behind(const LanguageSettings& settings) {
  return settings.api() == kChat && !settings.has_messages() ? "}]}" : "}";
}

class OpenAi final : public Protocol {
 public:
  OpenAi(const Address& address, const char* host_config, const backend::Log& log)
      : base_(address.base), path_(address.path), model_(address.model), log_(log) {
    defaults_.ApplyHost(Config(host_config, "configuration of the model"));
  }

  Metadata AskMetadata(const Ask& ask) override {
    RequireModel(ask);
    Metadata metadata;
    metadata.platform = "OpenAI's API";
    metadata.inputs = {Tensor(kPrompt, "BYTES", {1}), Tensor(kOptions, "BYTES", {1}, true),
                       Tensor("tokens", "INT32", {-1, -1}, true)};
    metadata.outputs = {Tensor("completion", "BYTES", {1}),     Tensor("metadata", "BYTES", {1}),
                        Tensor("message", "BYTES", {1}),        Tensor("probabilities", "BYTES", {1}),
                        Tensor("embeddings", "FP32", {-1, -1}), Tensor("step_probabilities", "BYTES", {1}),
                        Tensor("logits", "FP32", {-1, -1}),     Tensor("logit_tokens", "INT32", {-1, -1}),
                        Tensor("step_tokens", "INT32", {-1}),   Tensor("generation", "BYTES", {1})};
    return metadata;
  }
  std::shared_ptr<const LanguageSettings> Configure(const char* guest_config) const override {
    const Config config(guest_config, "configuration from the guest");
    auto settings = std::make_shared<LanguageSettings>(defaults_);
    settings->Apply(config);
    WarnOfUnknown(config, "configuration from the guest");
    return settings;
  }
  Inference Infer(const LanguageSettings* settings, const Inputs& inputs, const Outputs& /*outputs*/) const override {
    const std::string_view prompt = TextOf(inputs, kPrompt), options = TextOf(inputs, kOptions);
    if (options.empty()) return AskForText(base_, model_, *settings, prompt);
    if (options.size() > kMaxOptions) {
      throw Error(WASINN_ERROR_TOO_LARGE,
                  fmt::format("options of {} bytes are longer than the limit of {}", options.size(), kMaxOptions));
    }
    if (options.find('\0') != std::string_view::npos) {
      throw Error(WASINN_ERROR_INVALID_ARGUMENT, "options: expected the text of a JSON object, found a byte 0");
    }
    LanguageSettings with_options = *settings;
    with_options.Apply(Config(std::string(options).c_str(), "options"));
    return AskForText(base_, model_, with_options, prompt);
  }
  uint64_t MemoryToRead(const Reply& reply) const override {
    const WholeMessage message(reply.message);
    return reply.message.Length() + JsonMemory(message.text()) + ProbabilitiesMemory(message.text());
  }
  std::vector<AnsweredTensor> ReadAnswer(const Reply& reply, size_t /*most*/) const override {
    LanguageAnswer answer;
    {
      const WholeMessage message(reply.message);
      answer = ReadLanguageAnswer(message.text());
    }
    std::vector<AnsweredTensor> tensors;
    tensors.push_back(Embeddings(answer));
    answer.embeddings = {};
    tensors.push_back(Text("completion", std::move(answer.completion)));
    tensors.push_back(Text("metadata", std::move(answer.metadata)));
    tensors.push_back(Text("message", std::move(answer.message)));
    tensors.push_back(Text("probabilities", std::move(answer.probabilities)));
    tensors.push_back(Text("step_probabilities", ""));
    tensors.push_back(Tensor("logits", "FP32", {0, 0}));
    tensors.push_back(Tensor("logit_tokens", "INT32", {0, 0}));
    tensors.push_back(Tensor("step_tokens", "INT32", {0}));
    tensors.push_back(Text("generation", ""));
    return tensors;
  }
  backend::Error ErrorOf(const Reply& reply) const override {
    if (SaysTooLong(WholeMessage(reply.message).text())) {
      return {WASINN_ERROR_PROMPT_TOO_LONG, Quoted(reply.status.error_message())};
    }
    return Protocol::ErrorOf(reply);
  }
  Request AskReady() const override { return {.path = base_ + "/models", .has_body = false}; }
  bool IsReady(const Reply& /*reply*/) const override { return true; }
  bool generates() const override { return true; }

 private:
  // The server must list the model, or describe it by itself: some servers accept several names. A server without a
  // list may have any model.
  void RequireModel(const Ask& ask) const {
    const std::optional<Reply> list = AskIfFound(ask, base_ + "/models");
    if (!list) return;
    const auto models = ReadModels(WholeMessage(list->message).text());
    if (!models || std::ranges::find(*models, model_) != models->end() || AskIfFound(ask, path_)) return;
    throw Error(WASINN_ERROR_NOT_FOUND, fmt::format("the server has no model '{}', but {}", model_, Shown(*models)));
  }
  // Once for each key: guests make contexts, and the log takes a few lines a second from each backend.
  void WarnOfUnknown(const Config& config, const char* where) const {
    std::vector<std::string> unknown = UnknownKeys(config);
    {
      const std::lock_guard lock(mutex_);
      std::erase_if(unknown, [&](const std::string& key) {
        return reported_.size() >= kMaxReported || !reported_.insert(key).second;
      });
    }
    if (!unknown.empty())
      log_.Write(WASINN_LOG_WARNING, fmt::format("{}: unknown keys: {}", where, fmt::join(unknown, ", ")));
  }

  const std::string base_, path_, model_;  // "/v1", "/v1/models/org%2Fname", "org/name"
  const backend::Log log_;
  LanguageSettings defaults_;
  mutable std::mutex mutex_;
  mutable std::set<std::string> reported_;  // unknown keys in the log
};

}  // namespace

std::unique_ptr<Protocol> NewOpenAi(const Address& address, const char* host_config, const backend::Log& log) {
  return std::make_unique<OpenAi>(address, host_config, log);
}

Inference AskForText(const std::string& base, std::string_view model, const LanguageSettings& settings,
                     std::string_view prompt) {
  const bool is_list = settings.has_list();
  const bool is_text =
      !is_list && !(settings.api() == kChat && settings.has_messages());  // or JSON, passed on unchanged
  is_text ? CheckText(prompt) : is_list ? CheckList(prompt) : CheckMessages(prompt);
  std::string head = fmt::format(R"({{"model":{}{},{})", base::Quoted(model), settings.Fields(), Before(settings));
  const std::string_view tail = Behind(settings);
  const uint64_t bytes = head.size() + tail.size() + (is_text ? EscapedBytes(prompt) + 2 : prompt.size());
  return {bytes, [=, path = base + PathOf(settings.api()), head = std::move(head)] {
            grpc_slice memory = grpc_slice_malloc(bytes);
            char* to = std::ranges::copy(head, reinterpret_cast<char*>(GRPC_SLICE_START_PTR(memory))).out;
            if (is_text) {
              *to++ = '"';
              to = WriteEscaped(prompt, to);
              *to++ = '"';
            } else {
              to = std::ranges::copy(prompt, to).out;
            }
            std::ranges::copy(tail, to);
            const grpc::Slice slice(memory, grpc::Slice::STEAL_REF);  // now, because a small slice contains its bytes
            return Request{.path = path, .headers = {{"content-type", "application/json"}}, .body = {&slice, 1}};
          }};
}

}  // namespace wasinn::remote
