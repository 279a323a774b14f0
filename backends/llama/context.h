// One conversation.
#ifndef WASINN_BACKENDS_LLAMA_CONTEXT_H_
#define WASINN_BACKENDS_LLAMA_CONTEXT_H_

#include <wasinn/backend.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/cancel_gate.h"
#include "llama/generation.h"
#include "llama/model.h"
#include "llama/sequence.h"
#include "llama/settings.h"

namespace wasinn::llama {

// One thread at a time, but for Cancel.
class Context {
 public:
  Context(const Model& model, const wasinn_slot_options& options);
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  void BindInput(uint32_t index, const wasinn_tensor& tensor);
  void UnbindInput(uint32_t index);
  void Compute();
  void Output(uint32_t index, wasinn_tensor* view);
  // Whatever runs looks at the gate.
  void Cancel() {
    gate_.Cancel([] {});
  }
  void DiscardOutputs();
  void Step();
  void Piece(uint32_t index, wasinn_tensor* view);
  void Finish();

 private:
  void ReadOptions();
  void CheckKeys(const backend::Config& options, const char* where);
  const std::vector<llama_token>& ReadPrompt();
  // For a prompt of so many tokens.
  void PrepareSequence(size_t tokens);
  void BeginGeneration();
  void Embed();
  // One piece, between Enter and Leave of the gate.
  Generation::End StepInside();
  void WriteMetadata();
  void View(const std::string& text, wasinn_tensor* view);

  const Model& model_;
  const uint64_t max_bytes_;  // 0: no limit
  void* const account_;       // who pays for what it keeps
  backend::CancelGate gate_;
  std::string_view prompt_;  // where they are bound
  std::string_view options_;
  bool options_read_ = true;
  Settings base_;                                   // of the model and of this context
  Settings settings_;                               // with the options
  std::optional<std::vector<llama_token>> tokens_;  // of the prompt
  std::unique_ptr<Sequence> sequence_;
  Settings sequence_settings_;
  std::unique_ptr<Generation> generation_;
  bool embedded_ = false;  // a step has brought the embedding
  bool streaming_ = false;
  bool has_output_ = false;
  bool has_piece_ = false;
  uint64_t output_tokens_ = 0;
  uint64_t evaluated_tokens_ = 0;
  std::string completion_;
  std::string piece_;
  std::string metadata_;
  std::string warned_;
  int warnings_ = 0;
  int64_t length_ = 0;  // that a view points to
};

}  // namespace wasinn::llama

#endif  // WASINN_BACKENDS_LLAMA_CONTEXT_H_
