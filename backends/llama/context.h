// One conversation.
#pragma once

#include <wasinn/backend.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/reservation.h"
#include "llama/chat.h"
#include "llama/generation.h"
#include "llama/logits.h"
#include "llama/media_prompt.h"
#include "llama/model.h"
#include "llama/probabilities.h"
#include "llama/sequence.h"
#include "llama/settings.h"
#include "llama/texts.h"

namespace wasinn::llama {

// Used by one thread at a time, except Cancel.
class Context {
 public:
  Context(const Model& model, const wasinn_slot_options& options);
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  void BindInput(uint32_t index, const wasinn_tensor& tensor);
  void UnbindInput(uint32_t index);
  // Whether the settings ask for text in pieces, so that steps replace a compute.
  bool WantsSteps();
  void Compute();
  void Output(uint32_t index, wasinn_tensor* view);
  // Running code checks it.
  void Cancel() { cancelled_ = true; }
  void DiscardOutputs();
  void Step();
  void Piece(uint32_t index, wasinn_tensor* view);
  void Finish();

 private:
  static constexpr int64_t kNoShape[2] = {};
  static constexpr uint32_t kOutputs = 10;

  void EndGeneration();
  void ReadOptions();
  void CheckKeys(const backend::Config& options, const char* where);
  // Does not repeat the last warning.
  void Warn(std::string warning);
  const std::vector<llama_token>& ReadPrompt();
  const std::vector<llama_token>& ReadMedia(std::span<const MediaPart> parts);
  const Texts& ReadTexts();
  bool has_many_texts() const { return settings_.texts || settings_.rerank; }
  // Whether reading the prompt takes long, or much memory: then only a compute reads it, which has a deadline.
  bool IsReadInComputes() const;
  // The longest text's tokens; reads all texts.
  size_t LongestText();
  // `tokens`: the length of the prompt.
  void PrepareSequence(size_t tokens);
  void MakeSequence(Settings needed, bool is_shared);
  void BeginGeneration();
  // Without a generation: one piece.
  bool answers_at_once() const {
    return settings_.embedding || settings_.tokenize || settings_.detokenize || settings_.decode.on;
  }
  void Answer();
  void AnswerTokens();
  void Embed();
  // With `decode`: the prompt, followed by the tokens that the guest chose. Returns the length.
  size_t ReadBranches();
  // The first token whose logits are wanted.
  size_t FirstRow() const;
  uint32_t OutputsForDecode() const;
  void Decode();
  // Throws if the settings are for one text.
  void CheckBranches() const;
  void ForgetEmbeddings();
  // One piece.
  Generation::End StepInside();
  // Throws WASINN_ERROR_CONTEXT_FULL if the text was cut off.
  void CheckWhole(Generation::End end) const;
  void ChargeText();
  void WriteMetadata();
  const std::string& Report();
  void ForgetReport();
  void WriteMessage();
  // OpenAI's reason; NULL: the generation continues.
  const char* FinishReason();
  const char* StopType() const;
  void ViewText(uint32_t index, const std::string& text, wasinn_tensor* view);
  void ViewNumbers(uint32_t dtype, const int64_t* shape, std::span<const std::byte> bytes, wasinn_tensor* view);
  void ViewLogits(wasinn_tensor* view);
  void ViewLogitTokens(wasinn_tensor* view);
  void ViewStepToken(wasinn_tensor* view);
  uint64_t InputTokens() const;

  const Model& model_;
  const uint64_t max_bytes_;  // 0: no limit
  void* const account_;       // pays for the memory
  const std::shared_ptr<GuestStates> states_;
  std::atomic<bool> cancelled_ = false;  // the running compute or step
  std::string_view prompt_;              // in bound memory
  std::string_view options_;
  std::span<const llama_token> chosen_;
  size_t chosen_rows_ = 1;
  bool options_read_ = true;
  Settings base_;                                   // of the model and this context
  Settings settings_;                               // including the options
  std::unique_ptr<Chat> chat_;                      // the source of the tokens; NULL: plain text
  std::optional<std::vector<llama_token>> tokens_;  // of the prompt
  std::unique_ptr<MediaPrompt> media_;              // the prompt's images and sounds; NULL: none
  backend::Reservation texts_reservation_;          // destroyed after the texts
  Texts texts_;                                     // of a prompt with many texts
  backend::Reservation branches_reservation_;       // destroyed after the branches
  Texts branches_;                                  // with `decode`: texts of one length
  backend::Reservation embeddings_reservation_;     // destroyed after the embeddings
  std::vector<float> embeddings_;                   // consecutive
  std::unique_ptr<Sequence> sequence_;
  bool is_shared_ = false;  // the sequence's kind
  Settings sequence_settings_;
  std::unique_ptr<Probabilities> probabilities_;  // NULL: not wanted
  std::unique_ptr<Generation> generation_;
  std::unique_ptr<Logits> logits_;  // NULL: not wanted
  bool answered_ = false;           // a step has returned everything
  bool streaming_ = false;
  bool has_output_ = false;
  bool has_piece_ = false;
  bool is_full_ = false;                   // the context, which ended the text
  std::optional<llama_token> step_token_;  // chosen by the last step
  uint64_t output_tokens_ = 0;
  uint64_t evaluated_tokens_ = 0;
  uint64_t held_prompt_ = 0;
  uint64_t restored_tokens_ = 0;
  uint64_t shifts_ = 0;
  uint64_t discarded_tokens_ = 0;
  std::string stop_word_;  // that ended the text
  Sequence::DraftCounts drafts_;
  backend::Reservation text_;  // for a long completion
  std::string completion_;
  const std::string nothing_;
  std::string piece_;
  std::string metadata_;
  backend::Reservation report_reservation_;  // destroyed after the report
  std::optional<std::string> report_;        // of the generation
  Generation::Reason reason_ = Generation::Reason::kNone;
  std::string message_;  // of this much of the completion; empty: not made yet
  std::optional<size_t> message_of_;
  std::string warned_;
  int warnings_ = 0;
  std::array<int64_t, kOutputs> lengths_{};  // targets of views, all of which live until the next compute
  int64_t shape_[2] = {};
};

}  // namespace wasinn::llama
