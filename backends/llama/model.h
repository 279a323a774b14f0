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

// Immutable. Any thread.
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
  // Throws WASINN_ERROR_UNSUPPORTED_OPERATION for a model that only reads: of texts it makes embeddings, or scores.
  void CheckGenerates() const;
  // The same for a llama context without a memory of tokens: what a model of that kind has, if nothing else tells it.
  void CheckGenerates(llama_context* context) const;
  // Those that end a text; the first ones, if a model of an attacker has very many.
  const std::vector<llama_token>& end_tokens() const { return end_tokens_; }
  // It has no other part than an encoder.
  bool encodes() const { return encodes_; }
  // Forgetting a part of what was evaluated is not possible: state, not a cache of keys and values.
  bool recurrent() const { return recurrent_; }
  bool on_gpu() const { return on_gpu_; }
  // Tokens that a model looks back at in some of its layers; 0: at all.
  size_t window() const { return window_; }
  States& states() const { return states_; }
  // Of the host's configuration, by name.
  llama_adapter_lora* FindLora(const std::string& name) const { return loras_.at(name); }

  const ChatTemplates& chat_templates() const { return chat_templates_; }

  // What it reads images and sounds by; NULL: it does not.
  const Projector* projector() const { return projector_.get(); }

  // For contexts that are decoded together; NULL where each decodes by itself.
  Batcher* batcher() const { return batcher_.get(); }

  // What guesses for it; or NULL.
  const Model* draft() const { return draft_.get(); }

  // What the host has had evaluated for prompts that begin so; or NULL.
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
  backend::Reservation reservation_;  // goes after the model
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
  std::unique_ptr<Batcher> batcher_;  // goes first
  StatePtr shared_prompt_;
};

}  // namespace wasinn::llama
