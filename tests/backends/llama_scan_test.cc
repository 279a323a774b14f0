// The scan of GGUF files, without the framework.
#include "llama/gguf_scan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "backends/llama_writer.h"
#include "common/error.h"

namespace wasinn::test {
namespace {

using llama::ModelScan;
using ::testing::HasSubstr;

// F32, F16, Q4_K and I32; llama_hostile_test.cc has ggml's own word on all others.
llama::GgufBlock BlockOf(uint32_t type) {
  switch (type) {
    case 0:
      return {.elements = 1, .bytes = 4};
    case 1:
      return {.elements = 1, .bytes = 2};
    case 12:
      return {.elements = 256, .bytes = 144, .packs_weights = true};
    case 26:
      return {.elements = 1, .bytes = 4};
    default:
      return {};
  }
}

ModelScan Scan(const std::string& bytes, bool of_guest = true) {
  // Exactly these bytes, so that a sanitizer sees a read past their end.
  const std::vector<uint8_t> copy(bytes.begin(), bytes.end());
  return llama::ScanGguf(copy, {.block_of = BlockOf, .of_guest = of_guest, .architectures = {"llama"}});
}

wasinn_code CodeOf(const std::string& bytes, bool of_guest = true) {
  try {
    Scan(bytes, of_guest);
    return WASINN_OK;
  } catch (const backend::Error& error) {
    return error.code();
  }
}

TEST(GgufScan, ReadsWhatMemoryIsReckonedBy) {
  const ModelScan scan = Scan(TinyLlamaWriter().Write());
  EXPECT_EQ(scan.architecture, "llama");
  EXPECT_EQ(scan.name, "tiny");
  EXPECT_EQ(scan.trained_context, 512u);
  EXPECT_EQ(scan.embedding, 64u);
  EXPECT_EQ(scan.layers, 2u);
  EXPECT_EQ(scan.heads, 4u);
  EXPECT_EQ(scan.kv_heads, 2u);
  EXPECT_EQ(scan.key_length, 16u);
  EXPECT_EQ(scan.vocabulary, TinyVocabulary().size());
  EXPECT_EQ(scan.longest_token, 6u);
  EXPECT_EQ(scan.kv_bytes_per_token(), 2u * 2 * 2 * 32);
}

TEST(GgufScan, RefusesEveryTruncation) {
  const std::string model =
      TinyLlamaWriter({.embedding = 8, .layers = 1, .heads = 2, .kv_heads = 1, .feed_forward = 8}).Write();
  ASSERT_EQ(CodeOf(model), WASINN_OK);
  for (size_t size = 0; size < model.size() - 32; size += size < 9000 ? 1 : 97) {
    EXPECT_EQ(CodeOf(model.substr(0, size)), WASINN_INVALID_ENCODING) << size;
    EXPECT_EQ(CodeOf(model.substr(0, size), false), WASINN_INVALID_ENCODING) << size;
  }
}

struct Broken {
  const char* name;
  std::function<void(GgufWriter*)> breaks;
  wasinn_code code = WASINN_INVALID_ENCODING;
};

TEST(GgufScan, RefusesWhatLlamaWouldAbortOn) {
  const std::vector<Broken> all = {
      {"version 1", [](GgufWriter* w) { w->version = 1; }},
      {"2^60 tensors", [](GgufWriter* w) { w->added_tensors = uint64_t{1} << 60; }},
      {"2^60 values", [](GgufWriter* w) { w->added_values = uint64_t{1} << 60; }},
      {"2^64-1 values", [](GgufWriter* w) { w->added_values = UINT64_MAX - w->values.size(); }},
      {"a giant string", [](GgufWriter* w) { w->Set("a", kGgufString, BytesOf<uint64_t>(UINT64_MAX)); }},
      {"a giant array",
       [](GgufWriter* w) { w->Set("a", kGgufArray, BytesOf(kGgufU64) + BytesOf<uint64_t>(uint64_t{1} << 61)); }},
      {"an array of arrays",
       [](GgufWriter* w) { w->Set("a", kGgufArray, BytesOf(kGgufArray) + BytesOf<uint64_t>(1)); }},
      {"an unknown type", [](GgufWriter* w) { w->Set("a", 13, "1234"); }},
      {"a key twice", [](GgufWriter* w) { w->values.push_back(w->values[0]); }},
      {"an empty key", [](GgufWriter* w) { w->SetU32("", 1); }},
      {"alignment 0", [](GgufWriter* w) { w->SetU32("general.alignment", 0); }},
      {"alignment 3", [](GgufWriter* w) { w->SetU32("general.alignment", 3); }},
      {"no architecture", [](GgufWriter* w) { w->Remove("general.architecture"); }},
      {"an architecture that is a number", [](GgufWriter* w) { w->SetU32("general.architecture", 1); }},
      {"another architecture", [](GgufWriter* w) { w->SetText("general.architecture", "mamba"); }, WASINN_SECURITY},
      {"more files", [](GgufWriter* w) { w->SetU32("split.count", 2); }, WASINN_SECURITY},
      {"experts", [](GgufWriter* w) { w->SetU32("llama.expert_count", 8); }},
      {"an unknown key", [](GgufWriter* w) { w->SetU32("llama.nextn_predict_layers", 1); }, WASINN_SECURITY},
      {"a tensor's rank", [](GgufWriter* w) { w->tensors[0].dims = {1, 1, 1, 1, 1}; }},
      {"a dimension of 0", [](GgufWriter* w) { w->tensors[0].dims = {0, 1}; }},
      {"dimensions that overflow", [](GgufWriter* w) { w->tensors[0].dims = {uint64_t{1} << 40, uint64_t{1} << 40}; }},
      {"a type that went", [](GgufWriter* w) { w->tensors[0].type = 4; }},
      {"a type to come", [](GgufWriter* w) { w->tensors[0].type = 1000; }},
      {"a norm of 16 bits", [](GgufWriter* w) { w->tensors[1].type = kGgmlF16; }},
      {"weights that are whole numbers", [](GgufWriter* w) { w->tensors[0].type = 26; }},
      {"rows that are no blocks", [](GgufWriter* w) { w->tensors[0].type = 12; }},
      {"a tensor twice", [](GgufWriter* w) { w->tensors[1].name = w->tensors[0].name; }},
      {"a tensor's long name", [](GgufWriter* w) { w->tensors[0].name = std::string(64, 'a'); }},
      {"an offset outside", [](GgufWriter* w) { w->tensors[0].added_offset = uint64_t{1} << 62; }},
      {"an odd offset", [](GgufWriter* w) { w->tensors[0].added_offset = 1; }},
      {"no layers", [](GgufWriter* w) { w->SetU32("llama.block_count", 0); }},
      {"513 layers", [](GgufWriter* w) { w->SetU32("llama.block_count", 513); }},
      {"layers as another type", [](GgufWriter* w) { w->Set("llama.block_count", kGgufU64, BytesOf<uint64_t>(2)); }},
      {"no heads", [](GgufWriter* w) { w->SetU32("llama.attention.head_count", 0); }},
      {"3 heads for 64", [](GgufWriter* w) { w->SetU32("llama.attention.head_count", 3); }},
      {"4 heads of 3", [](GgufWriter* w) { w->SetU32("llama.attention.head_count_kv", 3); }},
      {"no KV heads", [](GgufWriter* w) { w->SetU32("llama.attention.head_count_kv", 0); }},
      {"heads of an odd width", [](GgufWriter* w) { w->SetU32("llama.attention.key_length", 15); }},
      {"values of another width", [](GgufWriter* w) { w->SetU32("llama.attention.value_length", 8); }},
      {"rope of another width", [](GgufWriter* w) { w->SetU32("llama.rope.dimension_count", 8); }},
      {"a giant context", [](GgufWriter* w) { w->SetU32("llama.context_length", UINT32_MAX); }},
      {"no context", [](GgufWriter* w) { w->SetU32("llama.context_length", 0); }},
      {"a negative epsilon", [](GgufWriter* w) { w->SetF32("llama.attention.layer_norm_rms_epsilon", -1); }},
      {"no epsilon", [](GgufWriter* w) { w->SetF32("llama.attention.layer_norm_rms_epsilon", NAN); }},
      {"an unknown rope", [](GgufWriter* w) { w->SetText("llama.rope.scaling.type", "twisted"); }},
      {"heads of each layer",
       [](GgufWriter* w) { w->SetArray("llama.attention.head_count", kGgufI32, std::vector<int32_t>{4}); }},
      {"heads of layers",
       [](GgufWriter* w) { w->SetArray("llama.attention.head_count", kGgufI32, std::vector<int32_t>{4, 0}); }},
      {"no tokens", [](GgufWriter* w) { w->Remove("tokenizer.ggml.tokens"); }},
      {"two tokens that are the same",
       [](GgufWriter* w) { w->SetTexts("tokenizer.ggml.tokens", {"a", "b", "c", "d", "a"}); }},
      {"an empty token", [](GgufWriter* w) { w->SetTexts("tokenizer.ggml.tokens", {"a", "b", "c", "d", ""}); }},
      {"a token with a byte 0",
       [](GgufWriter* w) { w->SetTexts("tokenizer.ggml.tokens", {"a", "b", "c", "d", std::string("a\0b", 3)}); }},
      {"a key with a byte 0", [](GgufWriter* w) { w->SetU32(std::string("a\0b", 3), 1); }},
      {"fewer scores", [](GgufWriter* w) { w->SetArray("tokenizer.ggml.scores", kGgufF32, std::vector<float>{1}); }},
      {"a score that is none",
       [](GgufWriter* w) {
         w->SetArray("tokenizer.ggml.scores", kGgufF32, std::vector<float>(TinyVocabulary().size(), NAN));
       }},
      {"fewer types",
       [](GgufWriter* w) { w->SetArray("tokenizer.ggml.token_type", kGgufI32, std::vector<int32_t>{1}); }},
      {"types of another type", [](GgufWriter* w) { w->SetU32("tokenizer.ggml.token_type", 1); }},
      {"no such token", [](GgufWriter* w) { w->SetU32("tokenizer.ggml.eos_token_id", 1 << 20); }},
      {"another tokenizer", [](GgufWriter* w) { w->SetText("tokenizer.ggml.model", "t5"); }, WASINN_SECURITY},
      {"bytes in gpt2", [](GgufWriter* w) { w->SetText("tokenizer.ggml.model", "gpt2"); }},
  };
  for (const Broken& broken : all) {
    GgufWriter writer = TinyLlamaWriter();
    broken.breaks(&writer);
    EXPECT_EQ(CodeOf(writer.Write()), broken.code) << broken.name;
  }
}

TEST(GgufScan, SaysWhereItIsWrong) {
  GgufWriter writer = TinyLlamaWriter();
  writer.added_tensors = uint64_t{1} << 60;
  try {
    Scan(writer.Write());
    FAIL();
  } catch (const backend::Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("115292150460684"));
  }
}

TEST(GgufScan, TheHostsModelsMayBeMore) {
  GgufWriter writer = TinyLlamaWriter();
  writer.SetText("general.architecture", "mamba");
  writer.SetU32("split.count", 2);
  writer.tensors[0].type = 1000;
  EXPECT_EQ(CodeOf(writer.Write(), false), WASINN_OK);
}

}  // namespace
}  // namespace wasinn::test
