// Models that harm the process in which llama.cpp loads or computes them: in workers.
#include "backends/isolated.h"
#include "backends/llama_guest.h"
#include "backends/llama_models.h"
#include "backends/llama_templates.h"

namespace wasinn::test {
namespace {

struct Variant {
  std::string name, bytes;
};

Tensor Text(const std::string& text) { return {WASINN_DTYPE_U8, {static_cast<int64_t>(text.size())}, text}; }

// A prompt with bytes of each kind, and some tokens.
Brought Of(const Variant& model) {
  return {.name = model.name,
          .builders = {model.bytes},
          .inputs = {Text("the \u00e9 \n 1"), Text(R"({"seed": 1, "n-predict": 4, "ctx-size": 32, "temp": 0})")}};
}

Workers LlamaWorkers() {
  return {Encoding::kGgml, Of({"honest", SmallWriter().Write()}), "backend_order = ['llama']\n"};
}

void TryAll(const std::vector<Variant>& models, size_t step) {
  Workers workers = LlamaWorkers();
  size_t next = 0;
  workers.TryVariants(static_cast<int>((models.size() + step - 1) / step), [&] {
    next += step;
    return Of(models[next - step]);
  });
}

// The offset of the tensors' data, whose bytes are numbers.
size_t HeaderSize(const GgufWriter& writer) {
  size_t data = 0;
  for (const auto& tensor : writer.tensors) data = (data + 31) / 32 * 32 + tensor.bytes.size();
  return writer.Write().size() - (data + 31) / 32 * 32;
}

TEST(LlamaIsolated, TruncatedAndFlippedModelsAreContained) {
  const GgufWriter writer = SmallWriter();
  const std::string model = writer.Write();
  constexpr unsigned kSeed = 9;
  SCOPED_TRACE(kSeed);
  std::mt19937 random(kSeed);
  std::vector<Variant> models;
  for (int i = 0; i < 20; ++i) models.push_back({"cut", model.substr(0, random() % model.size())});
  for (int i = 0; i < 80; ++i) {
    std::string broken = model;
    char& byte = broken[random() % HeaderSize(writer)];
    byte = static_cast<char>(byte ^ "\x01\x80\xff"[random() % 3]);
    models.push_back({"flipped", broken});
  }
  TryAll(models, 1);
}

// Each value in turn is missing, and each number one that it should not be.
std::vector<Variant> OtherNumbers() {
  std::vector<Variant> models;
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
  return models;
}

std::vector<Variant> OtherWeights() {
  std::vector<Variant> models;
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
  return models;
}

std::vector<Variant> OtherVocabularies() {
  std::vector<Variant> models;
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
  return models;
}

// Some of them: each may cost a worker.
TEST(LlamaIsolated, ChangedNumbersAreContained) { TryAll(OtherNumbers(), 7); }
TEST(LlamaIsolated, ChangedWeightsAreContained) { TryAll(OtherWeights(), 5); }
TEST(LlamaIsolated, ChangedVocabulariesAreContained) { TryAll(OtherVocabularies(), 3); }

// A template is a program that comes with the model; what it makes of messages is computed in the worker. That is ended
// where it does not stop in time.
TEST(LlamaIsolated, HostileTemplatesAreContained) {
  const auto chat = [](const std::string& text) {
    GgufWriter writer = TinyLlamaWriter({.context = 2048});
    writer.SetText("tokenizer.chat_template", text);
    return Brought{.name = text.substr(0, 60),
                   .builders = {writer.Write()},
                   .inputs = {Text(R"([{"role": "user", "content": "the hen"}])"),
                              Text(R"({"chat": true, "seed": 1, "n-predict": 4, "temp": 0})")}};
  };
  Workers workers(Encoding::kGgml, chat(kToolTemplate), "backend_order = ['llama']\n");
  workers.ExpectHonest();
  EXPECT_EQ(workers.Try(chat(kThinkTemplate), Workers::Time::kAll), 0u) << workers.log();
  std::string deep;
  for (int i = 0; i < 60000; ++i) deep += '(';
  for (const std::string& text :
       {std::string("{% for i in range(1000000000) %}a{% endfor %}"), "{{ " + deep + " }}", std::string(1 << 20, 'a'),
        std::string("{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}"), std::string("{% if"),
        std::string("\xff{{ 1 }}"), std::string("{{ raise_exception('no') }}"),
        std::string("{{ messages[0].content * 1000000000 }}")}) {
    EXPECT_NE(workers.TryBesideHonest(chat(text)), 0u) << text.substr(0, 60);
  }
}

}  // namespace
}  // namespace wasinn::test
