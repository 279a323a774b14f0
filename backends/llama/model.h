// A loaded model.
#pragma once

#include <wasinn/backend.h>

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "common/reservation.h"
#include "llama/chat.h"
#include "llama/config.h"
#include "llama/gguf_scan.h"
#include "llama/host.h"
#include "llama/projector.h"
#include "llama/state.h"

namespace wasinn::llama {

class Batcher;

enum class Device : uint8_t { kCpu, kGpu };

// Immutable, thread-safe.
class Model {
 public:
  Model(const Host& host, std::span<const wasinn_builder> builders, const wasinn_load_options& options);
  ~Model();
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  const Host& host() const { return host_; }
  const ModelConfig& config() const { return config_; }
  const ModelScan& scan() const { return scan_; }
  bool of_guest() const { return of_guest_; }
  llama_model* get() const { return model_.get(); }
  const llama_vocab* vocabulary() const { return vocabulary_; }
  size_t vocabulary_size() const { return vocabulary_size_; }
  // Throws WASINN_ERROR_UNSUPPORTED_OPERATION for a model that only makes embeddings or scores of texts.
  void CheckGenerates() const;
  // The same for a llama context without a memory of tokens, in case only that shows the model's kind.
  void CheckGenerates(llama_context* context) const;
  // The tokens that end a text; only the first ones, if an attacker's model has very many.
  const std::vector<llama_token>& end_tokens() const { return end_tokens_; }
  // It only has an encoder.
  bool encodes() const { return encodes_; }
  // Its memory is a state instead of a KV cache, so parts of a text cannot be forgotten.
  bool recurrent() const { return recurrent_; }
  bool on_gpu() const { return on_gpu_; }
  // The tokens that some layers look back at; 0: all.
  size_t window() const { return window_; }
  States& states() const { return states_; }
  // From the host's configuration, by name.
  llama_adapter_lora* FindLora(const std::string& name) const { return loras_.at(name); }

  const ChatTemplates& chat_templates() const { return chat_templates_; }

  // Reads images and sounds; NULL: not supported.
  const Projector* projector() const { return projector_.get(); }

  // Decodes contexts together; NULL: each decodes by itself.
  Batcher* batcher() const { return batcher_.get(); }

  // The model that drafts for it; or NULL.
  const Model* draft() const { return draft_.get(); }

  // The evaluated beginning of prompts, from the host; or NULL.
  const StatePtr& shared_prompt() const { return shared_prompt_; }

  const wasinn_info* info() const;
  const char* Describe() const { return description_.c_str(); }

 private:
  void Load(const wasinn_builder& builder, const wasinn_load_options& options, Device device);
  void CheckVocabulary() const;
  void FindEndTokens();
  void LoadLoras();
  void WriteDescription();

  const Host& host_;
  const bool of_guest_;
  const ModelScan scan_;
  backend::Reservation reservation_;  // destroyed after the model
  const ModelConfig config_;
  bool on_gpu_ = false;
  ModelPtr model_;
  const llama_vocab* vocabulary_ = nullptr;
  size_t vocabulary_size_ = 0;
  std::vector<llama_token> end_tokens_;
  bool recurrent_ = false;
  size_t window_ = 0;
  bool encodes_ = false;
  std::map<std::string, llama_adapter_lora*> loras_;  // the model frees them
  std::string description_;
  ChatTemplates chat_templates_;
  mutable States states_;
  std::unique_ptr<Projector> projector_;
  std::unique_ptr<Model> draft_;
  std::unique_ptr<Batcher> batcher_;  // destroyed first
  StatePtr shared_prompt_;
};

}  // namespace wasinn::llama
