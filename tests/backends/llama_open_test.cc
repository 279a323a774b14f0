// Opening and configuring.
#include "backends/expect.h"
#include "backends/llama_models.h"
#include "support/this_build.h"

namespace wasinn::test {
namespace {

TEST(LlamaOpen, BadConfigurationIsRefused) {
  const Host host;
  for (const char* bad :
       {R"({"ctx-size": -1})", R"({"parallel": 65})", R"({"threads": 2, "ctx-size": "a"})", R"({"loras": ["a"]})",
        R"({"loras": {"a": "relative.gguf"}})", R"({"mmap": 1})", R"({"grammar": 7})", R"({"n-gpu-layers": "all"})"}) {
    const Model model(host, TinyModel(), LlamaOptions(bad));
    EXPECT_EQ(model.loaded().code, WASINN_ERROR_INVALID_ARGUMENT) << bad << model.loaded().message;
  }
}

TEST(LlamaOpen, GuestsStayWithinTheHostsLimits) {
  const Host host;
  LoadOptions options = LlamaOptions(R"({"ctx-size": 64, "batch-size": 32, "ubatch-size": 16, "n-predict": 4})");
  for (const char* bad : {R"({"ctx-size": -1})", R"({"batch-size": 0})", R"({"ubatch-size": 100000000})",
                          R"({"threads": -1})", R"({"lora": "a"})"}) {
    options.guest_config = bad;
    const Model model(host, TinyModel(), options);
    EXPECT_EQ(model.loaded().code, WASINN_ERROR_INVALID_ARGUMENT) << bad;
  }
  options.guest_config =
      R"({"ctx-size": 48, "threads": 64, "temp": 0, "library": "/etc", "loras": {"a": "/etc/passwd"}})";
  const LoadedModel model(host, TinyModel(), options);
  const auto description = json::parse(host.table().describe(model.get()));
  EXPECT_EQ(description["context"], 48);
  Context context(model);
  EXPECT_TRUE(ComputeOn(&context, "the hen"));
  EXPECT_EQ(Metadata(&context)["output_tokens"], 4) << "what the host says where the guest says nothing";
  // Without a word of the host: what the model was trained with.
  options = LlamaOptions();
  options.guest_config = R"({"ctx-size": 513})";
  const LoadedModel most(host, TinyModel(), options);
  EXPECT_EQ(json::parse(host.table().describe(most.get()))["context"], 512) << "programs ask for 4096";
}

TEST(LlamaOpen, AContextHasItsOwnConfiguration) {
  const Host host;
  const LoadedModel model(host, TinyModel(), LlamaOptions(R"({"ctx-size": 64, "n-predict": 4, "temp": 0})"));
  Context context(model, 0, R"({"n-predict": 7, "ctx-size": 48, "rope-scale": 2})");
  EXPECT_THAT(host.log(), HasSubstr("configuration from the guest: unknown keys: rope-scale"));
  EXPECT_TRUE(ComputeOn(&context, "the hen"));
  EXPECT_EQ(Metadata(&context)["output_tokens"], 7);
  EXPECT_TRUE(ComputeWith(&context, R"({"n-predict": 2})"));
  EXPECT_EQ(Metadata(&context)["output_tokens"], 2);
  EXPECT_TRUE(ComputeWith(&context, "{}"));
  EXPECT_EQ(Metadata(&context)["output_tokens"], 7) << "options stand for themselves";
  for (const char* bad : {R"({"ctx-size": -1})", R"({"temp": -1})", "[]", R"({"lora": "a"})"}) {
    EXPECT_EQ(Contexts(host, model, {.guest_config = bad}).refused.code, WASINN_ERROR_INVALID_ARGUMENT) << bad;
  }
}

TEST(LlamaOpen, LayersOnTheGpuThatAreNotTheModelsAreWarnedOf) {
  LoadOptions options = LlamaOptions();
  options.guest_config = R"({"n-gpu-layers": 3})";
  const Host host;
  const LoadedModel model(host, TinyModel(), options);
  const Context same(model, 0, R"({"n-gpu-layers": 3})");
  EXPECT_EQ(host.log(), "");
  const Context other(model, 0, R"({"n-gpu-layers": 4})");
  EXPECT_THAT(host.log(), HasSubstr("n-gpu-layers: applies only when a model is loaded"));
}

// An answer without them would be to another question.
TEST(LlamaOpen, MediaKeysAreErrorsForTextModels) {
  auto&& [host, model, context] = Opened(TinyModel(), LlamaOptions(R"({"n-predict": 1})"));
  ASSERT_TRUE(SetPrompt(&context, "the hen"));
  for (const auto& [key, config] : {std::pair<const char*, const char*>{"mmproj", R"({"mmproj": "/etc/passwd"})"},
                                    {"image", R"({"image": "hen.jpg"})"},
                                    {"tts", R"({"tts": true})"}}) {
    const Result refused = Contexts(host, model, {.guest_config = config}).refused;
    EXPECT_EQ(refused.code, WASINN_ERROR_UNSUPPORTED_OPERATION) << refused.message;
    EXPECT_THAT(refused.message, HasSubstr(key));
    const Result computed = ComputeWith(&context, config);
    EXPECT_EQ(computed.code, WASINN_ERROR_UNSUPPORTED_OPERATION) << computed.message;
    EXPECT_THAT(computed.message, HasSubstr(key));
  }
  ASSERT_TRUE(SetOptions(&context, R"({"mmproj": "", "image": "", "tts": false})")) << "as some programs always say";
  EXPECT_TRUE(context.Compute());
  EXPECT_EQ(host.log(), "");
}

// A library of another age: its structs would be read wrong.
TEST(LlamaOpen, ALibraryWithOtherStructsIsRefused) {
  for (const auto& [library, what] :
       {std::pair<const char*, const char*>{"lib/libllama_shim_larger.so", "llama_context_params"},
        {"lib/libllama_shim_other.so", "n_batch"}}) {
    const Host host(R"({"library": ")" + testing::InThisBuild(library) + "\"}");
    EXPECT_EQ(host.opened().code, WASINN_ERROR_UNSUPPORTED_OPERATION) << library;
    EXPECT_THAT(host.opened().message, AllOf(HasSubstr(what), HasSubstr("scripts/deps.sh llama")));
  }
}

// A guest pays for the memory of its contexts, which is known before it is allocated.
TEST(LlamaMemory, IsChargedToTheGuest) {
  const Host host;
  const Model model(host, TinyModel(), LlamaOptions(R"({"n-predict": 2, "temp": 0})"));
  Account account;
  {
    Context context(model, 0, "{}", &account);
    EXPECT_EQ(account.used, 0u) << "nothing is kept before the first compute";
    ASSERT_TRUE(ComputeOn(&context, "the hen"));
    const uint64_t cache = uint64_t{512} * 2 * 2 * 2 * 32;
    EXPECT_GT(account.used, cache);
    const uint64_t once = account.used;
    ASSERT_TRUE(context.Compute());
    EXPECT_EQ(account.used, once) << "it is the same one";
    ASSERT_TRUE(context.Step());
    EXPECT_GT(account.used, once) << "a generation under way";
    ASSERT_TRUE(SetOptions(&context, R"({"grammar": "root ::= \"a\"{0,1999}"})"));
    ASSERT_TRUE(context.Step());
    EXPECT_GT(account.used, once + 1999 * 32) << "and its grammar";
    ASSERT_TRUE(context.Finish());
    EXPECT_EQ(account.used, once);
    ASSERT_TRUE(ComputeWith(&context, R"({"ctx-size": 256})"));
    EXPECT_LT(account.used, once);
  }
  EXPECT_EQ(account.used, 0u);
}

TEST(LlamaMemory, ManyContextsStayWithinTheGuestsLimit) {
  const Host host;
  const Model model(host, TinyLlamaWriter({.context = 65536}).Write(),
                    LlamaOptions(R"({"n-predict": 1, "ctx-size": 65536, "ubatch-size": 8})"));
  Account account{.limit = 80 << 20};
  std::vector<std::unique_ptr<Context>> contexts;
  size_t served = 0;
  for (int i = 0; i < 256; ++i) {
    contexts.push_back(std::make_unique<Context>(model, 0, "{}", &account));
    const Result computed = ComputeOn(contexts.back().get(), "the");
    served += computed ? 1 : 0;
    if (!computed) {
      EXPECT_EQ(computed.code, WASINN_ERROR_TOO_LARGE) << computed.message;
    }
  }
  EXPECT_GT(served, 0u);
  EXPECT_LT(served, 8u) << "each has 16 MiB of cache alone";
  EXPECT_LE(account.most, account.limit);
  contexts.clear();
  EXPECT_EQ(account.used, 0u);
}

// A guest's own model is its own, too; what a host's contexts share is the host's.
TEST(LlamaMemory, ModelsAreCharged) {
  const Host host;
  Account guest, hosts;
  LoadOptions options = LlamaOptions();
  options.account = &guest;
  {
    const LoadedModel model(host, TinyModel(), options);
    EXPECT_GT(guest.used, TinyVocabulary().size() * 64);
    const uint64_t used = guest.used;
    guest.limit = used + 1;
    const Model second(host, TinyModel(), options);
    EXPECT_EQ(second.loaded().code, WASINN_ERROR_TOO_LARGE) << second.loaded().message;
    EXPECT_EQ(guest.used, used);
  }
  EXPECT_EQ(guest.used, 0u);
  options = LlamaOptions(R"({"parallel": 2, "n-predict": 2})");
  options.account = &hosts;
  const LoadedModel shared(host, TinyModel(), options);
  EXPECT_GT(hosts.used, uint64_t{2} * 512 * 2 * 2 * 2 * 32);
  Context context(shared, 0, "{}", &guest);
  ASSERT_TRUE(ComputeOn(&context, "the"));
  EXPECT_EQ(guest.used, 0u);
}

// Never less than llama.cpp says that it has allocated.
TEST(LlamaMemory, IsEstimatedBeforeItIsAllocated) {
  for (const auto& shape :
       {TinyLlama{}, TinyLlama{.embedding = 256, .layers = 3, .heads = 8, .kv_heads = 2, .feed_forward = 512},
        TinyLlama{.embedding = 128, .layers = 1, .heads = 2, .kv_heads = 2, .feed_forward = 1024, .context = 4096}}) {
    const std::string bytes = TinyLlamaWriter(shape).Write();
    for (const char* settings :
         {R"({"n-predict": 1, "enable-log": true})", R"({"ubatch-size": 16, "enable-log": true})",
          R"({"n-predict": 1, "flash-attn": "off", "enable-log": true})",
          R"({"n-predict": 1, "cache-type-k": "f32", "cache-type-v": "bf16", "enable-log": true})",
          R"({"embedding": true, "enable-log": true})", R"({"ctx-size": 300, "ubatch-size": 1, "enable-log": true})"}) {
      const Host host;
      const LoadedModel model(host, bytes, LlamaOptions());
      Account account;
      Context context(model, 0, settings, &account);
      ASSERT_TRUE(SetPrompt(&context, std::string(200, 'a'))) << settings;
      context.Compute();
      const double allocated = AllocatedBytes(host.log());
      EXPECT_GT(allocated, 0) << host.log();
      EXPECT_GE(static_cast<double>(account.most), allocated) << settings << "\n" << host.log();
      EXPECT_LE(static_cast<double>(account.most), 3 * allocated + (8 << 20)) << settings << "\n" << host.log();
    }
  }
}

TEST(LlamaModel, MemoryIsSharedByItsContexts) {
  const Host host;
  const Model model(host, TinyModel(), LlamaOptions(R"({"n-predict": 1})"));
  const auto mappings = [] {
    const std::string maps = ReadFile("/proc/self/maps");
    size_t n = 0;
    for (size_t at = maps.find("wasinn-model"); at != std::string::npos; at = maps.find("wasinn-model", at + 1)) ++n;
    return n;
  };
  const size_t before = mappings();
  EXPECT_GT(before, 0u);
  std::vector<std::unique_ptr<Context>> contexts;
  for (int i = 0; i < 4; ++i) {
    contexts.push_back(std::make_unique<Context>(model));
    ASSERT_TRUE(ComputeOn(contexts.back().get(), "the"));
  }
  EXPECT_EQ(mappings(), before);
}

}  // namespace
}  // namespace wasinn::test
