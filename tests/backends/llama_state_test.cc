// Evaluated texts, saved and restored by name.
#include "backends/expect.h"
#include "backends/llama_models.h"

namespace wasinn::test {
namespace {

const std::string kSystem = "the hen ate the oats, and the other one ate the rest of the oats. ";
const std::string kStateQuestion = kSystem + "then the hen";

std::string Expected(const std::string& prompt) {
  return Characters(NativeWide().Complete(prompt, {.predict = 12, .temperature = 0}).bytes);
}

// Alone, and of those that share a llama context.
class LlamaState : public ::testing::TestWithParam<const char*> {
 protected:
  const Host host_;
  const LoadedModel model_{
      host_, WideModel(), LlamaOptions(std::string(R"({"temp": 0, "n-predict": 12, "parallel": )") + GetParam() + "}")};
  Account guest_, other_;
};

INSTANTIATE_TEST_SUITE_P(Parallel, LlamaState, ::testing::Values("0", "2"));

TEST_P(LlamaState, IsRestoredInAnotherContext) {
  Context first(model_, 0, "{}", &guest_), second(model_, 0, "{}", &guest_);
  ASSERT_TRUE(Ask(&first, kSystem, R"({"n-predict": 0, "save-state": "system"})"));
  EXPECT_EQ(Written(&first), "");
  const auto saved = Metadata(&first)["states"];
  ASSERT_EQ(saved.size(), 1u);
  EXPECT_EQ(saved[0]["name"], "system");
  const size_t tokens = saved[0]["tokens"];
  EXPECT_EQ(tokens, Metadata(&first)["input_tokens"]);
  EXPECT_GT(saved[0]["bytes"], tokens * 2 * 2 * 64 * 2);
  ASSERT_TRUE(SetPrompt(&second, kStateQuestion));
  ASSERT_TRUE(SetOptions(&second, R"({"restore-state": "system"})"));
  const size_t all = Metadata(&second)["input_tokens"];
  EXPECT_EQ(Complete(&second), Expected(kStateQuestion));
  EXPECT_GE(Metadata(&second)["restored_tokens"], tokens - 1) << "the last one may be another";
  EXPECT_EQ(Metadata(&second)["evaluated_tokens"], all - Metadata(&second)["restored_tokens"].get<size_t>());
  // Its own state is larger by now.
  EXPECT_EQ(Complete(&second), Expected(kStateQuestion));
  EXPECT_EQ(Metadata(&second)["restored_tokens"], 0);
  EXPECT_EQ(Metadata(&second)["evaluated_tokens"], 1);
  // Another text: as far as it is the same, and back again.
  EXPECT_EQ(Complete(&second, "oats"), Expected("oats"));
  EXPECT_EQ(Metadata(&second)["restored_tokens"], 0) << "not more than it holds itself";
  EXPECT_EQ(Complete(&second, kSystem.substr(0, 30)), Expected(kSystem.substr(0, 30)));
  EXPECT_GT(Metadata(&second)["restored_tokens"], 4);
}

TEST_P(LlamaState, IsSavedAtTheEndOfAGeneration) {
  Context first(model_, 0, "{}", &guest_), second(model_, 0, "{}", &guest_);
  ASSERT_TRUE(SetPrompt(&first, kSystem));
  ASSERT_TRUE(SetOptions(&first, R"({"save-state": "talk"})"));
  while (first.Step()) {
  }
  const std::string answer = Written(&first);
  EXPECT_EQ(answer, Expected(kSystem));
  ASSERT_TRUE(first.Finish());
  ASSERT_TRUE(Ask(&second, kSystem + answer + " and", R"({"restore-state": "talk"})"));
  EXPECT_EQ(Written(&second), Expected(kSystem + answer + " and"));
  EXPECT_GT(Metadata(&second)["restored_tokens"], 30);
  // Under the same name again.
  const size_t before = Metadata(&first)["states"][0]["tokens"];
  ASSERT_TRUE(Ask(&first, kSystem + answer, R"({"n-predict": 3, "save-state": "talk"})"));
  EXPECT_GT(Metadata(&first)["states"][0]["tokens"], before);
  EXPECT_EQ(Metadata(&first)["states"].size(), 1u);
}

TEST_P(LlamaState, BelongsToOneGuest) {
  Context mine(model_, 0, "{}", &guest_), theirs(model_, 0, "{}", &other_), nobodys(model_);
  ASSERT_TRUE(Ask(&mine, kSystem, R"({"save-state": "system"})"));
  for (Context* context : {&theirs, &nobodys}) {
    const Result refused = Ask(context, kStateQuestion, R"({"restore-state": "system"})");
    EXPECT_EQ(refused.code, WASINN_ERROR_NOT_FOUND) << refused.message;
    const Result nowhere = Ask(context, kStateQuestion, R"({"restore-state": "other"})");
    EXPECT_EQ(nowhere.code, WASINN_ERROR_NOT_FOUND);
    std::string message = nowhere.message;
    EXPECT_EQ(message.replace(message.find("other"), 5, "system"), refused.message)
        << "messages do not mention other guests";
    EXPECT_EQ(Metadata(context)["states"].size(), 0u);
    EXPECT_TRUE(Ask(context, kStateQuestion, R"({"erase-state": "system"})"));
  }
  ASSERT_TRUE(Ask(&theirs, "oats", R"({"save-state": "system"})"));
  ASSERT_TRUE(Ask(&mine, "then", "{}"));
  ASSERT_TRUE(Ask(&mine, kStateQuestion, R"({"restore-state": "system"})"));
  EXPECT_GT(Metadata(&mine)["restored_tokens"], 20) << "it is the one that this guest saved";
  ASSERT_TRUE(Ask(&mine, kStateQuestion, R"({"erase-state": "system"})"));
  EXPECT_EQ(Ask(&mine, kStateQuestion, R"({"restore-state": "system"})").code, WASINN_ERROR_NOT_FOUND);
  EXPECT_EQ(Metadata(&theirs)["states"].size(), 1u);
}

TEST_P(LlamaState, IsChargedToItsGuest) {
  {
    Context first(model_, 0, "{}", &guest_);
    ASSERT_TRUE(Ask(&first, kSystem, "{}"));
    const uint64_t without = guest_.used;
    ASSERT_TRUE(Ask(&first, kSystem, R"({"save-state": "a"})"));
    const uint64_t bytes = Metadata(&first)["states"][0]["bytes"];
    EXPECT_GE(guest_.used, without + bytes);
    const uint64_t one = guest_.used;
    guest_.limit = one + bytes / 2;
    const Result refused = Ask(&first, kSystem, R"({"save-state": "b"})");
    EXPECT_EQ(refused.code, WASINN_ERROR_TOO_LARGE) << refused.message;
    EXPECT_EQ(guest_.used, one);
    EXPECT_EQ(Metadata(&first)["states"].size(), 1u);
    guest_.limit = UINT64_MAX;
    ASSERT_TRUE(Ask(&first, kSystem, "{}"));
    EXPECT_EQ(Written(&first), Expected(kSystem));
    EXPECT_EQ(Metadata(&first)["evaluated_tokens"], 1) << "what it holds is still there";
    {
      Context second(model_, 0, "{}", &guest_);
      ASSERT_TRUE(Ask(&second, kStateQuestion, R"({"restore-state": "a", "save-state": "b"})"));
    }
    EXPECT_EQ(Metadata(&first)["states"].size(), 2u) << "the guest has a context";
    ASSERT_TRUE(Ask(&first, kStateQuestion, R"({"erase-state": "a"})"));
    ASSERT_TRUE(Ask(&first, kStateQuestion, R"({"erase-state": "b"})"));
    EXPECT_EQ(guest_.used, without);
    ASSERT_TRUE(Ask(&first, kSystem, R"({"save-state": "c"})"));
  }
  EXPECT_EQ(guest_.used, 0u);
  Context later(model_, 0, "{}", &guest_);
  EXPECT_EQ(Metadata(&later)["states"].size(), 0u) << "with its last context they are gone";
}

TEST_P(LlamaState, HasLimits) {
  Context context(model_, 0, "{}", &guest_);
  for (const std::string& bad : {std::string("a/b"), std::string("a b"), std::string(65, 'a'), std::string("\\u0000"),
                                 std::string("\\u00e9"), std::string("a\\\"b")}) {
    for (const char* key : {"save-state", "restore-state", "erase-state"}) {
      const Result refused = Ask(&context, "the", std::string("{\"") + key + "\": \"" + bad + "\"}");
      EXPECT_EQ(refused.code, WASINN_ERROR_INVALID_ARGUMENT) << key << bad;
      EXPECT_THAT(refused.message, HasSubstr(key));
    }
  }
  EXPECT_EQ(Ask(&context, "the", R"({"save-state": 1})").code, WASINN_ERROR_INVALID_ARGUMENT);
  for (int i = 0; i < 64; ++i) {
    ASSERT_TRUE(Ask(&context, "the", R"({"n-predict": 0, "save-state": ")" + std::to_string(i) + "\"}"));
  }
  EXPECT_EQ(Ask(&context, "the", R"({"n-predict": 0, "save-state": "64"})").code, WASINN_ERROR_TOO_LARGE);
  EXPECT_TRUE(Ask(&context, "the", R"({"n-predict": 0, "save-state": "63"})"));
  EXPECT_TRUE(Ask(&context, "the", R"({"n-predict": 0, "erase-state": "1", "save-state": "64"})"));
  EXPECT_EQ(Metadata(&context)["states"].size(), 64u);
}

// Many at once, of the same names.
TEST_P(LlamaState, WorksOnManyThreads) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      Context context(model_, 0, "{}", i % 2 == 0 ? &guest_ : &other_);
      const std::string prompt = i % 2 == 0 ? kSystem : "oats " + kSystem;
      for (int n = 0; n < 6; ++n) {
        EXPECT_TRUE(Ask(&context, prompt, R"({"save-state": "a"})"));
        EXPECT_EQ(Written(&context), Expected(prompt));
        EXPECT_TRUE(Ask(&context, prompt + "then", R"({"restore-state": "a"})"));
        EXPECT_EQ(Written(&context), Expected(prompt + "then"));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// A model whose layers look back at 8 tokens, but for the last.
std::string WithWindow() {
  GgufWriter writer = TinyLlamaWriter({.embedding = 128, .layers = 4, .heads = 4, .kv_heads = 2, .feed_forward = 128});
  for (GgufWriter::Value& value : writer.values) {
    if (value.key.starts_with("llama.")) value.key.replace(0, 5, "cohere2");
  }
  writer.SetText("general.architecture", "cohere2");
  writer.SetF32("cohere2.attention.layer_norm_epsilon", 1e-5F);
  writer.SetF32("cohere2.logit_scale", 1);
  writer.SetU32("cohere2.attention.sliding_window", 8);
  std::erase_if(writer.tensors, [](const GgufWriter::Tensor& tensor) {
    return tensor.name == "output.weight" || tensor.name.ends_with("ffn_norm.weight");
  });
  return writer.Write();
}

// Such a memory saves no more than it looks back at.
TEST(LlamaStateKind, WorksForModelsWithAWindow) {
  const Host host;
  const std::string begin = "the hen ate the oats, and the other one ate the rest of the oats",
                    longer = begin + ", and then";
  const NativeLlama native(TemporaryFile("window.gguf", WithWindow()));
  const auto expected = [&native](const std::string& prompt) {
    return Characters(native.Complete(prompt, {.predict = 12, .temperature = 0}).bytes);
  };
  for (const char* parallel : {"0", "2"}) {
    const LoadedModel model(host, WithWindow(),
                            LlamaOptions(std::string(R"({"temp": 0, "n-predict": 12, "parallel": )") + parallel + "}"));
    Account guest;
    Context first(model, 0, "{}", &guest), second(model, 0, "{}", &guest);
    ASSERT_TRUE(Ask(&first, begin, R"({"n-predict": 0, "save-state": "a"})"));
    ASSERT_TRUE(SetOptions(&second, R"({"restore-state": "a"})"));
    for (const auto& [prompt, is_restored] :
         {std::pair<std::string, bool>{longer, true}, {begin.substr(0, 40), false}, {longer, true}, {begin, false}}) {
      EXPECT_EQ(Complete(&second, prompt), expected(prompt)) << prompt;
      EXPECT_EQ(Metadata(&second)["restored_tokens"] > 0, is_restored) << prompt;
    }
  }
}

// A text of the host's, evaluated once for all.
TEST(LlamaSharedPrompt, IsUsedByPromptsThatBeginLikeIt) {
  const Host host;
  for (const char* parallel : {"0", "2"}) {
    Account hosts;
    LoadOptions options = LlamaOptions(std::string(R"({"temp": 0, "n-predict": 12, "parallel": )") + parallel +
                                       R"(, "shared-prompt": ")" + kSystem + "\"}");
    options.account = &hosts;
    {
      const LoadedModel model(host, WideModel(), options);
      EXPECT_GT(hosts.used, 20u * 2 * 2 * 64 * 2);
      Account one, another;
      Context first(model, 0, "{}", &one), second(model, 0, "{}", &another),
          whole(model, 0, R"({"cache-prompt": false})"), packed(model, 0, R"({"cache-type-k": "q8_0"})");
      for (Context* context : {&first, &second}) {
        EXPECT_EQ(Complete(context, kStateQuestion), Expected(kStateQuestion));
        EXPECT_GT(Metadata(context)["restored_tokens"], 20);
        EXPECT_EQ(Metadata(context)["states"].size(), 0u) << "no guest's";
        EXPECT_EQ(Complete(context, "oats"), Expected("oats"));
      }
      EXPECT_EQ(Complete(&whole, kStateQuestion), Expected(kStateQuestion));
      EXPECT_EQ(Metadata(&whole)["restored_tokens"], 0);
      ASSERT_TRUE(ComputeOn(&packed, kStateQuestion));
      EXPECT_EQ(Metadata(&packed)["restored_tokens"] == 0, parallel[0] == '0') << "of other memory it is not";
      // A guest's own state has more of its prompt.
      ASSERT_TRUE(Ask(&first, kStateQuestion, R"({"save-state": "mine"})"));
      ASSERT_TRUE(Ask(&first, "oats", "{}"));
      EXPECT_EQ(Complete(&first, kStateQuestion, R"({"restore-state": "mine"})"), Expected(kStateQuestion));
      EXPECT_EQ(Metadata(&first)["evaluated_tokens"], 1);
    }
    EXPECT_EQ(hosts.used, 0u);
  }
  const Model long_one(host, WideModel(), LlamaOptions(R"({"ctx-size": 8, "shared-prompt": ")" + kSystem + "\"}"));
  EXPECT_EQ(long_one.loaded().code, WASINN_ERROR_PROMPT_TOO_LONG) << long_one.loaded().message;
  LoadOptions of_guest = LlamaOptions(R"({"temp": 0, "n-predict": 4})");
  of_guest.guest_config = R"({"shared-prompt": "the hen"})";
  const LoadedModel guests(host, WideModel(), of_guest);
  Context context(guests);
  ASSERT_TRUE(ComputeOn(&context, "the hen ate"));
  EXPECT_EQ(Metadata(&context)["restored_tokens"], 0) << "it is the host's to say";
}

TEST(LlamaStateKind, MustBeTheSame) {
  const Host host;
  const Model model(host, WideModel(), LlamaOptions(R"({"temp": 0, "n-predict": 12})"));
  Account guest;
  Context first(model, 0, "{}", &guest), packed(model, 0, R"({"cache-type-k": "q8_0"})", &guest),
      small(model, 0, R"({"ctx-size": 8})", &guest);
  ASSERT_TRUE(Ask(&first, kSystem, R"({"save-state": "a"})"));
  const Result refused = Ask(&packed, kStateQuestion, R"({"restore-state": "a"})");
  EXPECT_EQ(refused.code, WASINN_ERROR_INVALID_ARGUMENT);
  EXPECT_THAT(refused.message, HasSubstr("cache types"));
  EXPECT_TRUE(ComputeWith(&packed, "{}"));
  // More than there is room for, though llama.cpp makes its memory larger than requested.
  EXPECT_TRUE(Ask(&small, "the hen", R"({"restore-state": "a", "n-predict": 2})"));
}

// A state that the memory has no room for leaves nothing of what was there before: the text is evaluated.
TEST(LlamaStateKind, AnotherSizeIsNotRestored) {
  const Host host;
  const Model model(host, TinyLlamaWriter({.embedding = 128, .context = 1024}).Write(),
                    LlamaOptions(R"({"temp": 0, "n-predict": 12})"));
  Account guest;
  Context large(model, 0, "{}", &guest), small(model, 0, R"({"ctx-size": 128})", &guest),
      fresh(model, 0, R"({"ctx-size": 128})", &guest);
  std::string text;
  for (int i = 0; i < 20; ++i) text += kSystem;
  ASSERT_TRUE(Ask(&large, text, R"({"n-predict": 0, "save-state": "a"})"));
  ASSERT_GT(Metadata(&large)["input_tokens"], 256) << "llama.cpp makes the memory no smaller";
  const std::string expected = Complete(&fresh, kStateQuestion);
  ASSERT_TRUE(ComputeOn(&small, "the hen ate the oats"));
  EXPECT_EQ(Complete(&small, kStateQuestion, R"({"restore-state": "a"})"), expected);
  EXPECT_EQ(Metadata(&small)["restored_tokens"], 0);
  EXPECT_EQ(Metadata(&small)["evaluated_tokens"], Metadata(&small)["input_tokens"]);
}

}  // namespace
}  // namespace wasinn::test
