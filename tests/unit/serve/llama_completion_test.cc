// llama.cpp's own form of a completion: how a request for one is read, and the settings in its answer.
#include <nlohmann/json.hpp>

#include "serve/openai/fields.h"
#include "serve/openai/openai.h"
#include "serve/openai/text_form.h"
#include "serve/openai/text_request.h"
#include "support/test.h"

namespace wasinn::serve::openai {
namespace {

using nlohmann::json;
using Words = std::vector<std::string>;

TextRequest ReadOwn(std::string_view text) {
  RequestBytes body(Charge(std::make_shared<MemoryBudget>(1u << 20)));
  if (!body.Append(text.data(), text.size())) throw std::bad_alloc();
  return ReadBody(body, ReadLlamaCompletion);
}

json OwnOptions(TextRequest request) { return json::parse(request.prompts.Take(0).options); }

// "": nothing is wrong with this field next to a prompt.
std::string WrongBesidePrompt(const std::string& field) {
  try {
    ReadOwn(R"({"prompt": "a", )" + field + "}");
    return "";
  } catch (const ApiError& error) {
    return error.param;
  }
}

TEST(LlamaRequest, IsTranslatedToTheModelsKeys) {
  const TextRequest request = ReadOwn(
      R"({"prompt": "a", "n_predict": 5, "temperature": 3, "presence_penalty": 7, "n_probs": 2, "post_sampling_probs": true,
          "ignore_eos": true, "cache_prompt": false, "n_keep": -1, "mirostat": 2, "mirostat_tau": 4, "repeat_last_n": 0,
          "dry_sequence_breakers": ["x"], "json_schema": {}, "n_cmpl": 2, "return_tokens": true,
          "response_fields": ["content", "generation_settings/seed"]})");
  EXPECT_EQ(OwnOptions(request), json::parse(R"({"n-predict": 5, "temp": 3.0, "presence-penalty": 7.0, "n-probs": 2,
      "post-sampling-probs": true, "ignore-eos": true, "cache-prompt": false, "keep": -1, "mirostat": 2,
      "mirostat-ent": 4.0, "repeat-last-n": 0, "dry-sequence-breaker": ["x"], "json-schema": {"type": "object"}, "report": true})"));
  EXPECT_EQ(request.prompts.size(), 2u);
  EXPECT_EQ(request.n_top, 2u);
  EXPECT_TRUE(request.wants_tokens);
  EXPECT_EQ(request.members, (Words{"content", "generation_settings/seed"}));
}

TEST(LlamaRequest, NeedsAReportOnlyForItsMembers) {
  const auto wants = [](const std::string& members) {
    return OwnOptions(ReadOwn(R"({"prompt": "a", "response_fields": )" + members + "}")).contains("report");
  };
  EXPECT_TRUE(wants("[]"));
  EXPECT_TRUE(wants(R"(["prompt"])"));
  EXPECT_FALSE(wants(R"(["content", "timings/predicted_n"])"));
}

TEST(LlamaRequest, ReadsPromptsOfAllKinds) {
  const auto texts = [](const std::string& prompt) { return ReadOwn(R"({"prompt": )" + prompt + "}").prompts.texts; };
  EXPECT_EQ(texts(R"("a")"), Words{"a"});
  EXPECT_EQ(texts("[1, 2]"), Words{"[1,2]"});
  EXPECT_EQ(texts(R"([1, "a\"", 2])"), Words{R"([1,"a\"",2])"});
  EXPECT_EQ(texts(R"({"prompt_string": "a"})"), Words{"a"});
  EXPECT_EQ(texts(R"({"prompt_string": [1, "a"]})"), Words{R"([1,"a"])"});
  EXPECT_EQ(texts(R"(["a", "b"])"), (Words{"a", "b"}));
  EXPECT_EQ(texts(R"(["a", [1], {"prompt_string": "b"}, ["c", 2]])"),
            (Words{R"(["a"])", "[1]", R"(["b"])", R"(["c",2])"}));
  for (const char* wrong :
       {"5", "[]", "[[]]", "[1.5]", "[1, {}]", "[1, [2]]", "{}", R"({"prompt_string": {"prompt_string": "a"}})",
        R"({"prompt_string": "a", "multimodal_data": ["b"]})"}) {
    EXPECT_THROW(texts(wrong), ApiError) << wrong;
  }
}

TEST(LlamaRequest, IgnoresUnsupportedFields) {
  EXPECT_EQ(WrongBesidePrompt(
                R"("n_indent": 2, "t_max_predict_ms": 2, "n_discard": 2, "dynatemp_range": 2, "dynatemp_exponent": 1.0,
      "top_n_sigma": 2, "adaptive_target": 0, "adaptive_decay": 0.9, "min_keep": 2, "samplers": ["top_k"], "lora": [], "id_slot": -1,
      "return_progress": false, "timings_per_token": false, "n_probs": 0, "response_fields": [], "stop": []")"),
            "");
  Fields::is_strict = true;
  EXPECT_EQ(WrongBesidePrompt(R"("samplers": ["top_k"])"), "samplers");
  Fields::is_strict = false;
}

TEST(LlamaRequest, LimitsLongFields) {
  EXPECT_EQ(WrongBesidePrompt(R"("n_probs": 21)"), "n_probs");
  EXPECT_EQ(WrongBesidePrompt(R"("n_cmpl": 129)"), "n_cmpl");
  const auto fields = [](size_t n, size_t length) {
    return json{{"response_fields", std::vector<std::string>(n, std::string(length, 'x'))}}.dump();
  };
  const auto wrong = [&](size_t n, size_t length) {
    const std::string object = fields(n, length);
    return WrongBesidePrompt(object.substr(1, object.size() - 2));
  };
  EXPECT_EQ(wrong(64, 256), "");
  EXPECT_EQ(wrong(65, 1), "response_fields");
  EXPECT_EQ(wrong(1, 257), "response_fields");
  EXPECT_EQ(WrongBesidePrompt(R"("response_fields": [5])"), "response_fields");
  EXPECT_EQ(WrongBesidePrompt(R"("response_fields": "content")"), "response_fields");
}

TEST(LlamaSettings, UseTheNamesOfLlamaCppsServer) {
  const json reported = ToLlamaSettings({{"temp", 0.5},
                                         {"top-k", 3},
                                         {"reverse-prompt", {"a"}},
                                         {"n-predict", 7},
                                         {"seed", -1},
                                         {"logit-bias", {{5, 1.5}, {6, false}}},
                                         {"mirostat-ent", 4}},
                                        true);
  EXPECT_EQ(reported["temperature"], 0.5);
  EXPECT_EQ(reported["top_k"], 3);
  EXPECT_EQ(reported["stop"], json::array({"a"}));
  EXPECT_EQ((json{reported["n_predict"], reported["max_tokens"]}), (json{7, 7}));
  EXPECT_EQ(reported["seed"], 4294967295) << "of which it says that it is another each time";
  EXPECT_EQ(reported["logit_bias"], json::parse(R"([{"token": 5, "bias": 1.5}, {"token": 6, "bias": null}])"));
  EXPECT_EQ(reported["mirostat_tau"], 4);
  EXPECT_EQ(reported["stream"], true);
  EXPECT_FALSE(reported.contains("temp"));
}

TEST(LlamaPaths, AreUnderV1AndSomeAtTheRoot) {
  EXPECT_EQ(WordsBehind("/v1/chat/completions?x=1"), (Words{"chat", "completions"}));
  EXPECT_EQ(WordsBehind("/v1/completions"), Words{"completions"}) << "in OpenAI's form";
  EXPECT_EQ(UnderV1("/chat/completions"), "/v1/chat/completions");
  for (const char* own : {"/completion", "/completions"}) EXPECT_EQ(UnderV1(own), "/v1/completion") << own;
  EXPECT_EQ(UnderV1("/completions?a=/b"), "/v1/completion?a=/b");
  for (const char* ours : {"/v1", "/v1/", "/v1?x", "/v1/no"}) EXPECT_TRUE(IsOurs(ours)) << ours;
  for (const char* other :
       {"", "/", "/v2", "/v10", "/completion/", "/completion/x", "/xcompletion", "//completion", "/embeddings", "*"}) {
    EXPECT_FALSE(IsOurs(other)) << other;
    EXPECT_EQ(UnderV1(other), std::nullopt) << other;
  }
}

}  // namespace
}  // namespace wasinn::serve::openai
