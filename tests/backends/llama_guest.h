// Shared by the tests of language models.
#pragma once

#include <nlohmann/json.hpp>

#include "backends/llama_writer.h"
#include "backends/test_host.h"
#include "support/test.h"

namespace wasinn::test {

using nlohmann::json;

inline LoadOptions LlamaOptions(const std::string& host_config = "{}", const std::string& path = "") {
  LoadOptions options;
  options.encoding = "ggml";
  options.host_config = host_config;
  options.path = path;
  return options;
}

// A generation that goes on until it is cancelled.
inline constexpr char kWithoutEnd[] = R"({"temp": 0, "context-shift": true, "ignore-eos": true, "n-predict": -1})";

inline Tensor Text(const std::string& text) { return {WASINN_DTYPE_U8, {static_cast<int64_t>(text.size())}, text}; }

constexpr uint32_t kPrompt = 0, kOptions = 1, kTokens = 2;
constexpr uint32_t kCompletion = 0, kMetadata = 1, kMessage = 2, kProbabilities = 3, kEmbeddings = 4, kLogits = 6,
                   kLogitTokens = 7, kStepTokens = 8, kGeneration = 9;

inline Result SetPrompt(Context* context, const std::string& text) { return context->Set(kPrompt, Text(text)); }
inline Result SetOptions(Context* context, const std::string& options) { return context->Set(kOptions, Text(options)); }

inline Result ComputeOn(Context* context, const std::string& prompt) {
  EXPECT_TRUE(SetPrompt(context, prompt));
  return context->Compute();
}
inline Result ComputeWith(Context* context, const std::string& options) {
  EXPECT_TRUE(SetOptions(context, options));
  return context->Compute();
}
inline Result Ask(Context* context, const std::string& prompt, const std::string& options) {
  EXPECT_TRUE(SetPrompt(context, prompt));
  return ComputeWith(context, options);
}

// The completion; a failure is its message.
inline std::string Complete(Context* context) {
  const Result computed = context->Compute();
  if (!computed) return "error " + std::to_string(computed.code) + ": " + computed.message;
  Tensor completion;
  const Result got = context->Get(kCompletion, &completion);
  return got ? completion.bytes : "error " + std::to_string(got.code) + ": " + got.message;
}

inline std::string Complete(Context* context, const std::string& prompt) {
  EXPECT_TRUE(SetPrompt(context, prompt));
  return Complete(context);
}

inline std::string CompleteWith(Context* context, const std::string& options) {
  EXPECT_TRUE(SetOptions(context, options));
  return Complete(context);
}
inline std::string Complete(Context* context, const std::string& prompt, const std::string& options) {
  EXPECT_TRUE(SetPrompt(context, prompt));
  return CompleteWith(context, options);
}

inline json Metadata(Context* context) {
  Tensor metadata;
  const Result got = context->Get(kMetadata, &metadata);
  if (!got) return {{"error", got.message}};
  return json::parse(metadata.bytes);
}

// The text so far, whether or not it has ended.
inline std::string Written(Context* context) {
  Tensor completion;
  return context->Get(kCompletion, &completion) ? completion.bytes : "";
}

// Words that the tiny models know; the longer, the larger `i` is.
std::string Prompt(size_t i);

// A file of the test's own, until the OS process ends.
std::string TemporaryFile(const std::string& name, const std::string& bytes);

// The memory that llama.cpp has allocated, from its log (the key enable-log).
double AllocatedBytes(const std::string& log);

// Whole characters of bytes, as a completion has them.
std::string Characters(const std::string& bytes);

}  // namespace wasinn::test
