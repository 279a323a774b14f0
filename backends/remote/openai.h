// Language models on servers with OpenAI's API.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "common/log.h"
#include "remote/address.h"
#include "remote/openai_settings.h"
#include "remote/protocol.h"

namespace wasinn::remote {

// A request for a completion or embeddings.
class LanguageInference final : public Inference {
 public:
  // `base`: "/v1". The prompt has been checked, and must not change until Write.
  LanguageInference(const std::string& base, std::string_view model, const LanguageSettings& settings,
                    std::string_view prompt);

  uint64_t bytes() const override { return bytes_; }
  Request Write() const override;

 private:
  const std::string_view prompt_;
  const bool is_text_;  // or JSON, which is passed on unchanged
  const std::string path_;
  std::string head_;
  std::string_view tail_;
  uint64_t bytes_;
};

// Guests see the same inputs and outputs as with the backend llama.
class OpenAi final : public Protocol {
 public:
  // `host_config`: the model's configuration.
  OpenAi(const Address& address, const char* host_config, const backend::Log& log);

  Metadata AskMetadata(const Ask& ask) override;
  std::unique_ptr<const GuestSettings> Configure(const char* guest_config) const override;
  std::unique_ptr<const Inference> Infer(const GuestSettings* settings, const Inputs& inputs,
                                         const Outputs& outputs) const override;
  uint64_t MemoryToRead(const Reply& reply) const override;
  std::vector<AnsweredTensor> ReadAnswer(const Reply& reply, size_t most) const override;
  backend::Error ErrorOf(const Reply& reply) const override;
  Request AskReady() const override;
  bool IsReady(const Reply& reply) const override;
  bool generates() const override { return true; }

 private:
  void RequireModel(const Ask& ask) const;
  void WarnOfUnknown(const backend::Config& config, const char* where) const;

  const std::string base_, path_, model_;  // "/v1", "/v1/models/org%2Fname", "org/name"
  const backend::Log log_;
  LanguageSettings defaults_;
  mutable std::mutex mutex_;
  mutable std::set<std::string> reported_;  // unknown keys in the log
};

// For models that are not language models: throws WASINN_ERROR_INVALID_ARGUMENT for their keys and unknown keys.
void RefuseLanguageKeys(const char* host_config);

}  // namespace wasinn::remote
