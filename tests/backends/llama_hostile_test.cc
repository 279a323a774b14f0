// Models of an attacker. What they do to llama.cpp is tried in child processes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "backends/crashes.h"
#include "backends/llama_guest.h"

namespace wasinn::test {
namespace {

using ::testing::HasSubstr;

// As small as it goes, so that most of its bytes are structure.
GgufWriter SmallWriter() {
  return TinyLlamaWriter({.embedding = 8, .layers = 1, .heads = 2, .kv_heads = 1, .feed_forward = 8, .context = 64});
}

TEST(LlamaHostile, WhatIsNoModelIsAnInvalidEncoding) {
  const Host host;
  const std::string model = SmallWriter().Write();
  for (const std::string& bytes : {std::string(), std::string("GGUF"), std::string(4000, 'x'), std::string(8, '\0'),
                                   std::string("GGUF\x03\0\0\0", 8), "GGUF" + std::string(4000, '\xff'),
                                   model.substr(0, 64), model.substr(0, model.size() / 2)}) {
    const Model broken(host, bytes, LlamaOptions());
    EXPECT_EQ(broken.loaded().code, WASINN_INVALID_ENCODING) << broken.loaded().message;
  }
  LoadOptions options = LlamaOptions();
  options.encoding = "onnx";
  EXPECT_EQ(Model(host, model, options).loaded().code, WASINN_INVALID_ENCODING);
  options = LlamaOptions();
  options.more_bytes = {"more"};
  EXPECT_EQ(Model(host, model, options).loaded().code, WASINN_INVALID_ARGUMENT);
}

TEST(LlamaHostile, LlamasOwnWordsAreInTheMessage) {
  const Host host;
  GgufWriter writer = SmallWriter();
  writer.tensors.pop_back();
  writer.tensors.pop_back();
  const Model missing(host, writer.Write(), LlamaOptions());
  EXPECT_EQ(missing.loaded().code, WASINN_INVALID_ENCODING);
  EXPECT_THAT(missing.loaded().message, HasSubstr("output_norm.weight"));
  writer = SmallWriter();
  writer.SetText("general.architecture", "qwen2");
  const Model other(host, writer.Write(), LlamaOptions());
  EXPECT_EQ(other.loaded().code, WASINN_SECURITY);
  EXPECT_THAT(other.loaded().message, HasSubstr("guest_architectures"));
  const Host lenient(R"({"guest_architectures": ["llama", "qwen2"]})");
  const Model allowed(lenient, writer.Write(), LlamaOptions());
  EXPECT_EQ(allowed.loaded().code, WASINN_INVALID_ENCODING) << "llama.cpp looks for qwen2's own values";
}

// ggml knows some of these, but multiplies nothing by them; others it has not, or no more.
TEST(LlamaHostile, WeightsOfATypeThatIsNoneOfWeights) {
  const Host host;
  for (const uint32_t type : {4u, 5u, 9u, 24u, 25u, 26u, 27u, 28u, 31u, 36u, 43u, 1000u, UINT32_MAX}) {
    GgufWriter writer = TinyLlamaWriter();
    writer.tensors[0].type = type;
    const Model model(host, writer.Write(), LlamaOptions());
    EXPECT_EQ(model.loaded().code, WASINN_INVALID_ENCODING) << type;
    EXPECT_THAT(model.loaded().message, HasSubstr("elements of type " + std::to_string(type))) << type;
  }
  // In blocks of 256.
  for (const uint32_t type : {10u, 15u, 23u, 35u}) {
    GgufWriter writer = TinyLlamaWriter();
    writer.tensors[0].type = type;
    EXPECT_THAT(Model(host, writer.Write(), LlamaOptions()).loaded().message, HasSubstr("blocks have 256")) << type;
  }
}

// As the core would: a prompt with bytes of each kind, some tokens, an embedding. True if it was loaded.
bool LoadAndRun(const std::string& bytes) {
  const Host host;
  LoadOptions load = LlamaOptions(R"({"seed": 1, "n-predict": 4, "ctx-size": 32})");
  load.max_bytes = 1 << 26;
  const Model model(host, bytes, load);
  if (!model.loaded()) return false;
  for (const char* options : {R"({})", R"({"temp": 0, "repeat-penalty": 1.1})", R"({"embedding": true})"}) {
    const wasinn_slot_options limits = {.struct_size = sizeof(limits), .max_bytes = 1 << 28};
    wasinn_backend_slot* context = nullptr;
    if (!TakeError(host.table().slot_new(model.get(), &limits, &context))) return true;
    const std::string inputs[] = {"the \u00e9 \n 1", options};
    for (uint32_t i = 0; i < 2; ++i) {
      const auto length = static_cast<int64_t>(inputs[i].size());
      const wasinn_tensor tensor = {.struct_size = sizeof(tensor),
                                    .dtype = WASINN_U8,
                                    .rank = 1,
                                    .dims = &length,
                                    .data = const_cast<char*>(inputs[i].data()),
                                    .bytes = inputs[i].size()};
      TakeError(host.table().bind_input(context, i, &tensor));
    }
    const wasinn_compute_options all = {.struct_size = sizeof(all), .n_wanted = 0, .wanted = nullptr};
    wasinn_compute_result result = {.struct_size = sizeof(result)};
    TakeError(host.table().compute(context, &all, &result));
    wasinn_tensor view = {.struct_size = sizeof(view)};
    for (uint32_t i = 0; i < 2; ++i) TakeError(host.table().output(context, i, &view));
    TakeError(host.table().step(context));
    host.table().slot_free(context);
  }
  return true;
}

void ExpectNoCrash(const std::vector<Crashes::Named>& models) {
  Crashes crashes(LoadAndRun);
  crashes.TryAll(models, [] {});
  crashes.ExpectNone();
}

// 1: every byte, which takes minutes.
size_t StepOr(size_t otherwise) {
  const char* step = getenv("WASINN_TEST_FLIPS");
  return step != nullptr ? static_cast<size_t>(std::stoi(step)) : otherwise;
}

// Where the tensors' data begins, whose bytes are numbers.
size_t HeaderSize(const GgufWriter& writer) {
  size_t data = 0;
  for (const auto& tensor : writer.tensors) data = (data + 31) / 32 * 32 + tensor.bytes.size();
  return writer.Write().size() - (data + 31) / 32 * 32;
}

TEST(LlamaHostile, TruncatedModelsCrashNothing) {
  std::vector<Crashes::Named> models;
  const std::string model = SmallWriter().Write();
  for (size_t size = 0; size < model.size(); size += StepOr(211))
    models.push_back({std::to_string(size), model.substr(0, size)});
  ExpectNoCrash(models);
}

TEST(LlamaHostile, FlippedBytesCrashNothing) {
  std::vector<Crashes::Named> models;
  const GgufWriter writer = SmallWriter();
  const std::string model = writer.Write();
  for (size_t i = 0; i < HeaderSize(writer); i += StepOr(61)) {
    for (const int flip : {0x01, 0x80, 0xff}) {
      std::string broken = model;
      broken[i] = static_cast<char>(broken[i] ^ flip);
      models.push_back({"[" + std::to_string(i) + "]^" + std::to_string(flip), broken});
    }
  }
  ExpectNoCrash(models);
}

// Each value in turn is missing, and each number one that it should not be.
TEST(LlamaHostile, OtherNumbersCrashNothing) {
  std::vector<Crashes::Named> models;
  const GgufWriter writer = SmallWriter();
  for (size_t i = 0; i < writer.values.size(); ++i) {
    GgufWriter broken = writer;
    broken.values.erase(broken.values.begin() + static_cast<ptrdiff_t>(i));
    models.push_back({"without " + writer.values[i].key, broken.Write()});
    for (const uint32_t number :
         {0U, 1U, 3U, 4U, 16U, 255U, 512U, 65535U, 1U << 20, 0x7fffffffU, 0x80000000U, 0xffffffffU}) {
      if (writer.values[i].bytes.size() != 4) break;
      broken = writer;
      broken.values[i].bytes = BytesOf(number);
      models.push_back({writer.values[i].key + "=" + std::to_string(number), broken.Write()});
    }
  }
  for (const float number : {0.0F, -1.0F, 1e38F, -INFINITY, NAN, 1e-45F}) {
    for (const char* key : {"llama.rope.freq_base", "llama.rope.scaling.factor", "llama.rope.scaling.attn_factor",
                            "llama.attention.layer_norm_rms_epsilon"}) {
      for (const char* type : {"linear", "yarn", "longrope"}) {
        GgufWriter broken = writer;
        broken.SetText("llama.rope.scaling.type", type);
        broken.SetF32(key, number);
        models.push_back({std::string(type) + " " + key + "=" + std::to_string(number), broken.Write()});
      }
    }
  }
  ExpectNoCrash(models);
}

TEST(LlamaHostile, WeightsThatAreNoNumbersCrashNothing) {
  std::vector<Crashes::Named> models;
  const GgufWriter writer = SmallWriter();
  for (size_t i = 0; i < writer.tensors.size(); ++i) {
    for (const float number : {NAN, INFINITY, 1e38F, 0.0F}) {
      GgufWriter broken = writer;
      for (size_t at = 0; at < broken.tensors[i].bytes.size(); at += 4)
        broken.tensors[i].bytes.replace(at, 4, BytesOf(number));
      models.push_back({writer.tensors[i].name + "=" + std::to_string(number), broken.Write()});
    }
    // Another type in the same place, and another shape.
    for (const uint32_t type : {1U, 2U, 8U, 10U, 24U, 26U, 30U}) {
      GgufWriter broken = writer;
      broken.tensors[i].type = type;
      models.push_back({writer.tensors[i].name + " of type " + std::to_string(type), broken.Write()});
    }
    for (const std::vector<uint64_t>& dims :
         {std::vector<uint64_t>{}, {1}, {8}, {8, 1}, {4, 8}, {8, 2, 2}, {2, 2, 2, 2}}) {
      GgufWriter broken = writer;
      broken.tensors[i].dims = dims;
      models.push_back({writer.tensors[i].name + " of another shape", broken.Write()});
    }
    GgufWriter broken = writer;
    broken.tensors[i].name = "rope_freqs.weight";
    models.push_back({writer.tensors[i].name + " as rope", broken.Write()});
  }
  ExpectNoCrash(models);
}

TEST(LlamaHostile, OtherVocabulariesCrashNothing) {
  std::vector<Crashes::Named> models;
  const GgufWriter writer = SmallWriter();
  const size_t n = TinyVocabulary().size();
  std::vector<std::string> same;
  for (size_t i = 0; i < n; ++i) same.push_back("t" + std::to_string(i));
  const auto with = [&](const char* name, const std::function<void(GgufWriter*)>& change) {
    GgufWriter broken = writer;
    change(&broken);
    models.push_back({name, broken.Write()});
  };
  with("no byte tokens", [&](GgufWriter* w) { w->SetTexts("tokenizer.ggml.tokens", same); });
  for (int32_t type = -1; type < 8; ++type) {
    with("all of one type",
         [&](GgufWriter* w) { w->SetArray("tokenizer.ggml.token_type", kGgufI32, std::vector<int32_t>(n, type)); });
  }
  std::vector<std::string> raw;
  for (size_t i = 0; i < n; ++i)
    raw.push_back(std::string(1, static_cast<char>(i)) + "\xff" + std::string(i / 200, '\0'));
  with("no UTF-8", [&](GgufWriter* w) { w->SetTexts("tokenizer.ggml.tokens", raw); });
  for (const char* pre : {"default", "llama-bpe", "gpt-2", "qwen2", "deepseek-llm", "tekken", "nonsense"}) {
    for (const std::vector<std::string>& merges :
         {std::vector<std::string>{}, {"a b"}, {""}, {" "}, {"  "}, {"ab"}, {"a b c", "th e", "\xff \xff"}}) {
      with(pre, [&](GgufWriter* w) {
        w->SetText("tokenizer.ggml.model", "gpt2");
        w->SetText("tokenizer.ggml.pre", pre);
        w->SetArray("tokenizer.ggml.token_type", kGgufI32, std::vector<int32_t>(n, 1));
        w->SetTexts("tokenizer.ggml.merges", merges);
      });
    }
  }
  for (const char* key :
       {"tokenizer.ggml.add_bos_token", "tokenizer.ggml.add_eos_token", "tokenizer.ggml.add_sep_token",
        "tokenizer.ggml.add_space_prefix", "tokenizer.ggml.remove_extra_whitespaces"}) {
    for (const char flag : {'\0', '\1', '\xff'}) {
      with(key, [&](GgufWriter* w) { w->Set(key, kGgufBool, std::string(1, flag)); });
      with(key, [&](GgufWriter* w) {
        w->Set(key, kGgufBool, std::string(1, flag));
        w->Remove("tokenizer.ggml.bos_token_id");
        w->Remove("tokenizer.ggml.eos_token_id");
      });
    }
  }
  with("bytes as a charsmap", [](GgufWriter* w) {
    w->SetArray("tokenizer.ggml.precompiled_charsmap", 0, std::vector<uint8_t>{255, 255, 255, 255, 1});
  });
  ExpectNoCrash(models);
}

}  // namespace
}  // namespace wasinn::test
