#include "llama/context.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/config.h"
#include "common/error.h"
#include "llama/own_sequence.h"
#include "llama/prompt.h"
#include "llama/shared_sequence.h"

namespace wasinn::llama {

using backend::Config;
using backend::Error;

namespace {

constexpr uint32_t kPromptIndex = 0, kOptionsIndex = 1, kCompletionIndex = 0, kMetadataIndex = 1;
constexpr int kMostWarnings = 16;
constexpr size_t kEmbeddingStep = 256;  // llama.cpp rounds the size of a context up to it
constexpr size_t kMostKeysNamed = 8, kLongestKeyNamed = 40;

// What a guest wrote, for a log.
std::string Printable(std::string_view text) {
  std::string printable(text.substr(0, kLongestKeyNamed));
  std::ranges::replace_if(printable, [](char c) { return c < ' ' || c > '~'; }, '?');
  return printable;
}

// Lets cancel in while it lives.
class GateScope {
 public:
  explicit GateScope(backend::CancelGate* gate) : gate_(gate) { gate_->Enter(); }
  ~GateScope() { gate_->Leave(); }
  GateScope(const GateScope&) = delete;
  GateScope& operator=(const GateScope&) = delete;

 private:
  backend::CancelGate* const gate_;
};

}  // namespace

Context::Context(const Model& model, const wasinn_slot_options& options)
    : model_(model), max_bytes_(options.max_bytes), account_(options.account), base_(model.config().defaults) {
  const Config config(options.guest_config, "configuration from the guest");
  base_.Apply(config, model.config().limits, model.config().loras);
  CheckKeys(config, "configuration from the guest");
  settings_ = base_;
}

Context::~Context() = default;

// Parsed, options take many times their bytes. As much as a configuration may have.
constexpr size_t kMostOptions = size_t{256} << 10;

void Context::BindInput(uint32_t index, const wasinn_tensor& tensor) {
  if (index > kOptionsIndex) throw Error(WASINN_INVALID_ARGUMENT, fmt::format("input {}: the model has 2", index));
  UnbindInput(index);
  if (index == kOptionsIndex && tensor.bytes > kMostOptions) {
    throw Error(WASINN_TOO_LARGE,
                fmt::format("options of {} bytes are longer than the limit of {}", tensor.bytes, kMostOptions));
  }
  const std::string_view text(static_cast<const char*>(tensor.data), tensor.bytes);
  (index == kPromptIndex ? prompt_ : options_) = text;
}

void Context::UnbindInput(uint32_t index) {
  Finish();
  tokens_.reset();
  (index == kPromptIndex ? prompt_ : options_) = {};
  if (index == kOptionsIndex) options_read_ = false;  // read when they are needed, since this must not fail
}

void Context::ReadOptions() {
  if (options_read_) return;
  if (options_.find('\0') != std::string::npos) {
    throw Error(WASINN_INVALID_ARGUMENT, "options: expected the text of a JSON object, found a byte 0");
  }
  const Config options(std::string(options_).c_str(), "options");
  // Each options input stands for itself.
  Settings settings = base_;
  settings.Apply(options, model_.config().limits, model_.config().loras);
  CheckKeys(options, "options");
  settings_ = std::move(settings);
  options_read_ = true;
}

namespace {

// What would be answered wrong without them: an image that nobody looked at, text where sound was asked for.
void RefuseKeys(const Config& options) {
  for (const char* key : {"mmproj", "image"}) {
    if (const auto value = options.String(key); !value || value->empty()) continue;
    throw Error(WASINN_UNSUPPORTED_OPERATION, fmt::format("{}: models that see images are not served", key));
  }
  if (options.Bool("tts").value_or(false)) {
    throw Error(WASINN_UNSUPPORTED_OPERATION, "tts: models that speak are not served");
  }
}

}  // namespace

void Context::CheckKeys(const Config& options, const char* where) {
  RefuseKeys(options);
  std::vector<std::string> unknown;
  for (const std::string& key : options.Keys()) {
    if (!IsSettingsKey(key) && unknown.size() < kMostKeysNamed) unknown.push_back(Printable(key));
  }
  std::string warning;
  if (!unknown.empty()) warning += fmt::format("unknown keys: {}", fmt::join(unknown, ", "));
  if (options.Bool("stream-stdout").value_or(false)) {
    warning += fmt::format(
        "{}stream-stdout: the library does not write to stdout: compute step by step and print the "
        "pieces",
        warning.empty() ? "" : "; ");
  }
  if (options.Integer("n-gpu-layers", -1, INT32_MAX)) {
    warning += fmt::format("{}n-gpu-layers: is of a model's load", warning.empty() ? "" : "; ");
  }
  if (warning.empty() || warning == warned_ || ++warnings_ > kMostWarnings) return;
  warned_ = warning;
  model_.host().log().Write(WASINN_LOG_WARNING, fmt::format("{}: {}", where, warning));
}

const std::vector<llama_token>& Context::ReadPrompt() {
  ReadOptions();
  if (!tokens_) tokens_ = Tokenize(model_, prompt_, settings_, settings_.context);
  return *tokens_;
}

void Context::PrepareSequence(size_t tokens) {
  Settings needed = settings_;
  // What makes embeddings holds nothing from one text to the next, and takes memory for every token of them.
  if (needed.embedding) {
    const auto rounded = static_cast<uint32_t>((tokens + kEmbeddingStep - 1) / kEmbeddingStep * kEmbeddingStep);
    const uint32_t held = sequence_ != nullptr && sequence_settings_.embedding ? sequence_settings_.context : 0;
    needed.context = std::min(needed.context, std::max(rounded, held));
  }
  if (sequence_ != nullptr && sequence_settings_.SameContext(needed)) return;
  sequence_.reset();  // first, so that there are never two
  if (!needed.embedding) model_.CheckGenerates();
  // An adapter is of a whole llama context, and so is what makes embeddings.
  if (model_.batcher() != nullptr && needed.lora.empty() && !needed.embedding) {
    sequence_ = std::make_unique<SharedSequence>(model_.batcher(), account_, needed.context, model_.recurrent(), gate_);
  } else {
    sequence_ = std::make_unique<OwnSequence>(model_, needed, max_bytes_, account_, gate_);
  }
  sequence_settings_ = std::move(needed);
}

void Context::BeginGeneration() {
  generation_.reset();
  completion_.clear();
  output_tokens_ = evaluated_tokens_ = 0;
  has_output_ = has_piece_ = embedded_ = false;
  const std::vector<llama_token>& tokens = ReadPrompt();
  PrepareSequence(tokens.size());
  // Smaller only where llama.cpp has made it so.
  if (tokens.size() > sequence_->capacity()) {
    throw Error(WASINN_PROMPT_TOO_LONG,
                fmt::format("the prompt has {} tokens: the context has {}", tokens.size(), sequence_->capacity()));
  }
  if (!settings_.embedding)
    generation_ = std::make_unique<Generation>(model_, settings_, tokens, sequence_.get(), account_);
}

void Context::Embed() {
  const std::vector<llama_token>& tokens = ReadPrompt();
  const std::vector<float> embedding = static_cast<OwnSequence&>(*sequence_).Embed(tokens);
  evaluated_tokens_ = tokens.size();
  completion_ = fmt::format("{{\"n_embedding\":{},\"embedding\":[{}]}}", embedding.size(), fmt::join(embedding, ","));
  piece_ = completion_;
  embedded_ = true;
}

Generation::End Context::StepInside() {
  if (settings_.embedding) {
    if (embedded_) return Generation::End::kOver;
    Embed();
    return Generation::End::kNone;
  }
  const Generation::End end = generation_->Step(&piece_);
  completion_ += piece_;
  output_tokens_ = generation_->output_tokens();
  evaluated_tokens_ = generation_->evaluated_tokens();
  return end;
}

void Context::Compute() {
  Finish();
  Generation::End end = Generation::End::kNone;
  try {
    const GateScope scope(&gate_);
    BeginGeneration();
    while (end == Generation::End::kNone) end = StepInside();
  } catch (...) {
    generation_.reset();
    throw;
  }
  generation_.reset();
  has_output_ = true;
  if (end == Generation::End::kFull) {
    throw Error(WASINN_CONTEXT_FULL, fmt::format("the context of {} tokens is full", sequence_->capacity()));
  }
}

void Context::Step() {
  Generation::End end = Generation::End::kNone;
  has_piece_ = false;
  try {
    const GateScope scope(&gate_);
    if (!streaming_) BeginGeneration();
    streaming_ = true;
    end = StepInside();
  } catch (...) {
    Finish();
    has_output_ = false;
    throw;
  }
  has_output_ = true;
  has_piece_ = end == Generation::End::kNone;
  if (end == Generation::End::kOver) throw Error(WASINN_END_OF_SEQUENCE, "the generation has ended");
  if (end == Generation::End::kFull) {
    throw Error(WASINN_CONTEXT_FULL, fmt::format("the context of {} tokens is full", sequence_->capacity()));
  }
}

void Context::Finish() {
  generation_.reset();
  streaming_ = has_piece_ = false;
}

void Context::View(const std::string& text, wasinn_tensor* view) {
  length_ = static_cast<int64_t>(text.size());
  *view = {.struct_size = sizeof(wasinn_tensor),
           .dtype = WASINN_U8,
           .rank = 1,
           .dims = &length_,
           .data = const_cast<char*>(text.data()),
           .bytes = text.size(),
           .owner = nullptr,
           .release = nullptr};
}

void Context::WriteMetadata() {
  // Before anything was computed, a guest asks for it to know how long its prompt is.
  if (!tokens_ && !prompt_.empty()) ReadPrompt();
  // The four that WasmEdge has, and ours.
  const nlohmann::json metadata = {{"input_tokens", tokens_ ? tokens_->size() : 0},
                                   {"output_tokens", output_tokens_},
                                   {"llama_build_number", 0},
                                   {"llama_commit", model_.host().library().commit()},
                                   {"llama_version", model_.host().library().version()},
                                   {"evaluated_tokens", evaluated_tokens_}};
  metadata_ = metadata.dump();
}

void Context::Output(uint32_t index, wasinn_tensor* view) {
  if (index == kMetadataIndex) {
    WriteMetadata();
    return View(metadata_, view);
  }
  if (index != kCompletionIndex) throw Error(WASINN_INVALID_ARGUMENT, fmt::format("output {}: the model has 2", index));
  if (!has_output_) throw Error(WASINN_INVALID_ARGUMENT, "there is no output before a compute has succeeded");
  View(completion_, view);
}

void Context::Piece(uint32_t index, wasinn_tensor* view) {
  if (!has_piece_) throw Error(WASINN_INVALID_ARGUMENT, "there is no piece before a step has succeeded");
  if (index == kMetadataIndex) return Output(index, view);
  if (index != kCompletionIndex) throw Error(WASINN_INVALID_ARGUMENT, fmt::format("output {}: the model has 2", index));
  View(piece_, view);
}

void Context::DiscardOutputs() {
  has_output_ = false;
  completion_ = std::string();
}

}  // namespace wasinn::llama
