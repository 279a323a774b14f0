// The outputs of a context.

#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "common/throw.h"
#include "llama/context.h"
#include "llama/generation_report.h"

namespace wasinn::llama {

using backend::Throw;

namespace {

constexpr uint32_t kCompletionIndex = 0, kMetadataIndex = 1, kProbabilitiesIndex = 3, kEmbeddingsIndex = 4,
                   kStepProbabilitiesIndex = 5, kLogitsIndex = 6, kLogitTokensIndex = 7, kStepTokensIndex = 8,
                   kGenerationIndex = 9;

}  // namespace

void Context::ViewText(uint32_t index, const std::string& text, wasinn_tensor* view) {
  lengths_[index] = static_cast<int64_t>(text.size());
  *view = {.struct_size = sizeof(wasinn_tensor),
           .dtype = WASINN_DTYPE_U8,
           .rank = 1,
           .dims = &lengths_[index],
           .data = const_cast<char*>(text.data()),
           .bytes = text.size(),
           .owner = nullptr,
           .release = nullptr};
}

void Context::ViewNumbers(uint32_t dtype, const int64_t* shape, std::span<const std::byte> bytes, wasinn_tensor* view) {
  *view = {.struct_size = sizeof(wasinn_tensor),
           .dtype = dtype,
           .rank = 2,
           .dims = shape,
           .data = bytes.empty() ? const_cast<char*>(nothing_.data())
                                 : static_cast<void*>(const_cast<std::byte*>(bytes.data())),
           .bytes = bytes.size(),
           .owner = nullptr,
           .release = nullptr};
}

void Context::ViewStepToken(wasinn_tensor* view) {
  int64_t& length = lengths_[kStepTokensIndex];
  length = step_token_ ? 1 : 0;
  *view = {.struct_size = sizeof(wasinn_tensor),
           .dtype = WASINN_DTYPE_I32,
           .rank = 1,
           .dims = &length,
           .data = step_token_ ? static_cast<void*>(&*step_token_) : const_cast<char*>(nothing_.data()),
           .bytes = step_token_ ? sizeof(llama_token) : 0,
           .owner = nullptr,
           .release = nullptr};
}

// Parses the answer only when it has grown: as a partial one while it grows, and then as a complete one.
void Context::WriteMessage() {
  if (chat_ == nullptr || answers_at_once()) return message_.clear();
  const bool partial = reason_ == Generation::Reason::kNone;
  const size_t of = partial ? completion_.size() : std::string::npos;
  if (message_of_ == of) return;
  message_ = chat_->Message(completion_, partial);
  message_of_ = of;
}

const char* Context::FinishReason() {
  if (reason_ == Generation::Reason::kNone) return nullptr;
  if (reason_ == Generation::Reason::kLength) return "length";
  if (chat_ == nullptr) return "stop";
  WriteMessage();
  return chat_->calls_tools() ? "tool_calls" : "stop";
}

const char* Context::StopType() const {
  switch (reason_) {
    case Generation::Reason::kNone:
      return nullptr;
    case Generation::Reason::kModel:
      return "eos";
    case Generation::Reason::kWord:
      return "word";
    case Generation::Reason::kLength:
      return "limit";
  }
  return nullptr;
}

void Context::ForgetReport() {
  report_.reset();
  report_reservation_.Resize(0);
}

// Made once, because each step reads it.
const std::string& Context::Report() {
  if (!settings_.report || answers_at_once() || !tokens_) return nothing_;
  if (!report_) report_ = ReportOf(model_, settings_, *tokens_, &report_reservation_);
  return *report_;
}

void Context::WriteMetadata() {
  // Before the first compute, a guest reads it to get the length of its prompt.
  if (!tokens_ && texts_.empty() && !prompt_.empty()) {
    cancelled_ = false;  // clears the cancel of an earlier compute
    ReadOptions();
    if (!IsReadInComputes()) ReadPrompt();  // with `decode`, without the tokens after it
  }
  // WasmEdge's four members, and wasinn's.
  nlohmann::json states = nlohmann::json::array();
  for (const auto& [name, tokens, bytes] : states_->List()) {
    states.push_back({{"name", name}, {"tokens", tokens}, {"bytes", bytes}});
  }
  nlohmann::json metadata = {{"input_tokens", InputTokens()},
                             {"output_tokens", output_tokens_},
                             {"llama_build_number", 0},
                             {"llama_commit", model_.host().library().commit()},
                             {"llama_version", model_.host().library().version()},
                             {"evaluated_tokens", evaluated_tokens_},
                             {"held_prompt_tokens", held_prompt_},
                             {"restored_tokens", restored_tokens_},
                             {"context_shifts", shifts_},
                             {"discarded_tokens", discarded_tokens_},
                             {"drafted_tokens", drafts_.drafted},
                             {"accepted_tokens", drafts_.accepted},
                             {"states", states},
                             {"finish_reason", nullptr},
                             {"stop_type", nullptr},
                             {"stopping_word", stop_word_},
                             {"truncated", is_full_ || shifts_ > 0}};
  if (const char* reason = FinishReason()) metadata["finish_reason"] = reason;
  if (const char* type = StopType()) metadata["stop_type"] = type;
  std::string written = metadata.dump();
  if (written != metadata_) metadata_ = std::move(written);  // else earlier views of it stay
}

void Context::Output(uint32_t index, wasinn_tensor* view) {
  if (index == kMetadataIndex) {
    WriteMetadata();
    return ViewText(index, metadata_, view);
  }
  if (index >= kOutputs) Throw(WASINN_ERROR_INVALID_ARGUMENT, "output {}: the model has {}", index, kOutputs);
  if (!has_output_) Throw(WASINN_ERROR_INVALID_ARGUMENT, "there is no output before a compute has succeeded");
  if (index == kCompletionIndex) return ViewText(index, completion_, view);
  if (index == kEmbeddingsIndex)
    return ViewNumbers(WASINN_DTYPE_F32, shape_, std::as_bytes(std::span(embeddings_)), view);
  if (index == kLogitsIndex) return ViewLogits(view);
  if (index == kLogitTokensIndex) return ViewLogitTokens(view);
  if (index == kStepTokensIndex) return ViewStepToken(view);
  if (index == kGenerationIndex) return ViewText(index, Report(), view);
  if (index == kProbabilitiesIndex) {
    return ViewText(index, probabilities_ == nullptr ? nothing_ : probabilities_->text(), view);
  }
  if (index == kStepProbabilitiesIndex) {
    return ViewText(index, probabilities_ == nullptr ? nothing_ : probabilities_->step(), view);
  }
  WriteMessage();
  ViewText(index, message_, view);
}

void Context::Piece(uint32_t index, wasinn_tensor* view) {
  if (!has_piece_) Throw(WASINN_ERROR_INVALID_ARGUMENT, "there is no piece before a step has succeeded");
  if (index != kCompletionIndex) return Output(index, view);
  ViewText(index, answered_ ? completion_ : piece_, view);
}

void Context::DiscardOutputs() {
  has_output_ = false;
  completion_ = std::string();
  text_.Resize(0);
  ForgetReport();
  probabilities_.reset();
  logits_.reset();
  ForgetEmbeddings();
}

void Context::ForgetEmbeddings() {
  embeddings_ = {};
  shape_[0] = shape_[1] = 0;
  embeddings_reservation_.Resize(0);
}

}  // namespace wasinn::llama
