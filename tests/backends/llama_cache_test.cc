// How the cache of keys and values is kept.
#include "backends/expect.h"
#include "backends/llama_guest.h"
#include "backends/llama_native.h"

namespace wasinn::test {
namespace {

constexpr const char* kCachedText = "the hen ate the oats, and then";
constexpr TinyLlama kCachedShape = {.embedding = 128, .layers = 2, .heads = 4, .kv_heads = 2, .feed_forward = 128};

const std::string& CachedModel() {
  static const std::string bytes = TinyLlamaWriter(kCachedShape).Write();
  return bytes;
}

struct Type {
  const char* name;
  int number;          // ggml's
  double bytes_of_32;  // of so many numbers
};
constexpr Type kTypes[] = {{"f32", 0, 128}, {"f16", 1, 64},     {"bf16", 30, 64}, {"q8_0", 8, 34}, {"q4_0", 2, 18},
                           {"q4_1", 3, 20}, {"iq4_nl", 20, 18}, {"q5_0", 6, 22},  {"q5_1", 7, 24}};

std::string Config(const char* k, const char* v, const std::string& more = "") {
  return std::string(R"({"temp": 0, "n-predict": 16, "cache-type-k": ")") + k + R"(", "cache-type-v": ")" + v + "\"" +
         more + "}";
}

TEST(LlamaCache, HasTheTypesOfLlamaCppsPrograms) {
  const Host host;
  const LoadedModel model(host, CachedModel(), LlamaOptions());
  const NativeLlama native(TemporaryFile("cache.gguf", CachedModel()));
  const auto compare = [&](const Type& k, const Type& v, const char* more, int flash) {
    const NativeSettings settings = {
        .predict = 16, .temperature = 0, .type_k = k.number, .type_v = v.number, .flash = flash};
    Context context(model, 0, Config(k.name, v.name, more));
    EXPECT_EQ(Complete(&context, kCachedText), Characters(native.Complete(kCachedText, settings).bytes))
        << k.name << v.name << more;
  };
  for (const Type& type : kTypes) compare(type, type, "", -1);
  compare(kTypes[3], kTypes[1], R"(, "flash-attn": "on")", 1);
  compare(kTypes[1], kTypes[4], R"(, "flash-attn": "auto")", -1);
  compare(kTypes[0], kTypes[1], R"(, "flash-attn": "off")", 0);
}

TEST(LlamaCache, IsChargedByItsTypes) {
  constexpr uint64_t kTokens = 512, kNumbers = kTokens * kCachedShape.layers * kCachedShape.kv_heads * 32;
  uint64_t with_halves = 0;
  for (const Type& type : {kTypes[1], kTypes[0], kTypes[3], kTypes[4], kTypes[8]}) {
    const Host host;
    const Model model(host, CachedModel(), LlamaOptions());
    Account account;
    Context context(model, 0, Config(type.name, type.name, R"(, "enable-log": true)"), &account);
    ASSERT_TRUE(ComputeOn(&context, kCachedText));
    EXPECT_GE(static_cast<double>(account.most), AllocatedBytes(host.log())) << type.name;
    if (with_halves == 0) with_halves = account.used;
    const auto less = static_cast<int64_t>(with_halves - account.used);
    EXPECT_EQ(less, static_cast<int64_t>(2 * kNumbers / 32 * (64 - type.bytes_of_32))) << type.name;
  }
}

TEST(LlamaCache, OfAParallelModelFollowsTheHost) {
  const Host host;
  const NativeLlama native(TemporaryFile("cache.gguf", CachedModel()));
  const LoadedModel model(host, CachedModel(), LlamaOptions(Config("q8_0", "q8_0", R"(, "parallel": 2)")));
  Context context(model);
  EXPECT_EQ(
      Complete(&context, kCachedText, R"({"cache-type-k": "f32", "cache-type-v": "f32"})"),
      Characters(native.Complete(kCachedText, {.predict = 16, .temperature = 0, .type_k = 8, .type_v = 8}).bytes));
}

TEST(LlamaCache, ImpossibleTypesAreRefused) {
  auto&& [host, model, context] = Opened(CachedModel(), LlamaOptions(R"({"n-predict": 1})"));
  ASSERT_TRUE(SetPrompt(&context, kCachedText));
  for (const char* bad :
       {R"({"cache-type-k": "q2_k"})", R"({"cache-type-v": 1})", R"({"cache-type-k": "Q8_0"})",
        R"({"flash-attn": true})", R"({"flash-attn": "yes"})", R"({"flash-attn": "off", "cache-type-k": "q8_0"})",
        R"({"flash-attn": "off", "cache-type-v": "q4_0"})"}) {
    EXPECT_EQ(ComputeWith(&context, bad).code, WASINN_ERROR_INVALID_ARGUMENT) << bad;
  }
  EXPECT_TRUE(ComputeWith(&context, "{}"));
  // Heads of 16 numbers, where a block has 32.
  const Model small(host, TinyLlamaWriter().Write(), LlamaOptions(R"({"n-predict": 1})"));
  Context of_small(small);
  ASSERT_TRUE(SetPrompt(&of_small, kCachedText));
  for (const char* bad : {R"({"cache-type-k": "q8_0"})", R"({"cache-type-v": "q4_1", "flash-attn": "on"})"}) {
    const Result computed = ComputeWith(&of_small, bad);
    EXPECT_EQ(computed.code, WASINN_ERROR_INVALID_ARGUMENT) << computed.message;
    EXPECT_THAT(computed.message, HasSubstr("16"));
  }
  const Model shared(host, TinyLlamaWriter().Write(), LlamaOptions(R"({"parallel": 2, "cache-type-k": "q8_0"})"));
  EXPECT_EQ(shared.loaded().code, WASINN_ERROR_INVALID_ARGUMENT) << shared.loaded().message;
}

TEST(LlamaSplit, IsForGpus) {
  const Host host;
  for (const char* bad :
       {R"({"split-mode": "rows"})", R"({"main-gpu": -1})", R"({"main-gpu": 64})", R"({"main-gpu": "0"})",
        R"({"tensor-split": ""})", R"({"tensor-split": "a"})", R"({"tensor-split": "1,"})",
        R"({"tensor-split": "-1,2"})", R"({"tensor-split": "0,0"})", R"({"tensor-split": "nan"})",
        R"({"tensor-split": "inf,1"})", R"({"tensor-split": "1e99"})", R"({"tensor-split": [3, 1]})"}) {
    const Model model(host, CachedModel(), LlamaOptions(bad));
    EXPECT_EQ(model.loaded().code, WASINN_ERROR_INVALID_ARGUMENT) << bad;
  }
  EXPECT_EQ(host.log(), "");
  const LoadedModel model(host, CachedModel(),
                          LlamaOptions(R"({"split-mode": "row", "tensor-split": "3,1", "n-predict": 1})"));
  EXPECT_THAT(host.log(), HasSubstr("warning: split-mode, tensor-split: of no effect"));
  Context context(model);
  EXPECT_TRUE(ComputeOn(&context, kCachedText));
}

}  // namespace
}  // namespace wasinn::test
