// The scan of GGUF files, without the framework.
#include "llama/gguf_scan.h"

#include "backends/llama_writer.h"
#include "backends/thrown.h"

namespace wasinn::test {
namespace {

using llama::ModelScan;

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
  return llama::ScanGguf(copy, {.block_of = BlockOf, .of_guest = of_guest});
}

wasinn_code CodeOf(const std::string& bytes, bool of_guest = true) {
  return ThrownBy([&] { Scan(bytes, of_guest); }).code;
}

TEST(GgufScan, ReadsTheNumbersForMemoryEstimates) {
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
}

TEST(GgufScan, RefusesEveryTruncation) {
  const std::string model =
      TinyLlamaWriter({.embedding = 8, .layers = 1, .heads = 2, .kv_heads = 1, .feed_forward = 8}).Write();
  ASSERT_EQ(CodeOf(model), WASINN_OK);
  for (size_t size = 0; size < 4000; ++size) {
    EXPECT_EQ(CodeOf(model.substr(0, size)), WASINN_ERROR_INVALID_ENCODING) << size;
    EXPECT_EQ(CodeOf(model.substr(0, size), false), WASINN_ERROR_INVALID_ENCODING) << size;
  }
}

struct Broken {
  const char* name;
  std::function<void(GgufWriter*)> breaks;
  wasinn_code code = WASINN_ERROR_INVALID_ENCODING;
};

TEST(GgufScan, RefusesOtherFiles) {
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
      {"no architecture", [](GgufWriter* w) { w->Remove("general.architecture"); }},
      {"an architecture that is a number", [](GgufWriter* w) { w->SetU32("general.architecture", 1); }},
      {"more files", [](GgufWriter* w) { w->SetU32("split.count", 2); }, WASINN_ERROR_SECURITY},
      {"a tensor's rank", [](GgufWriter* w) { w->tensors[0].dims = {1, 1, 1, 1, 1}; }},
      {"a token of 20,000 bytes",
       [](GgufWriter* w) { w->SetTexts("tokenizer.ggml.tokens", {std::string(20'000, 'e')}); }},
      {"numbers that would overflow", [](GgufWriter* w) { w->SetU32("llama.embedding_length", UINT32_MAX); }},
  };
  for (const Broken& broken : all) {
    GgufWriter writer = TinyLlamaWriter();
    broken.breaks(&writer);
    EXPECT_EQ(CodeOf(writer.Write()), broken.code) << broken.name;
  }
}

// llama.cpp takes names to their first byte 0: what is behind it would hide them from the scan.
TEST(GgufScan, NamesHaveNoByte0) {
  const std::string hidden("\0x", 2);
  const std::pair<const char*, std::function<void(GgufWriter*)>> files[] = {
      {"split.count", [&](GgufWriter* w) { w->SetU32("split.count" + hidden, 2); }},
      {"key", [&](GgufWriter* w) { w->values.front().key += hidden; }},
      {"architecture", [&](GgufWriter* w) { w->SetText("general.architecture", "llama" + hidden); }},
      {"tensor", [&](GgufWriter* w) { w->tensors.front().name += hidden; }},
  };
  for (const auto& [what, change] : files) {
    GgufWriter writer = TinyLlamaWriter();
    change(&writer);
    EXPECT_EQ(CodeOf(writer.Write()), WASINN_ERROR_INVALID_ENCODING) << what;
  }
}

TEST(GgufScan, ErrorsNameTheOffset) {
  GgufWriter writer = TinyLlamaWriter();
  writer.added_tensors = uint64_t{1} << 60;
  EXPECT_THAT(ThrownBy([&] { Scan(writer.Write()); }).message, HasSubstr("at offset"));
}

TEST(GgufScan, HostsModelsMayBeSplit) {
  GgufWriter writer = TinyLlamaWriter();
  writer.SetU32("split.count", 2);
  EXPECT_EQ(CodeOf(writer.Write(), false), WASINN_OK);
}

TEST(GgufScan, TensorsCannotExceedTheFile) {
  GgufWriter writer = TinyLlamaWriter();
  writer.tensors[0].type = 12;
  writer.tensors[0].dims = {uint64_t{1} << 62, uint64_t{1} << 62};
  const std::string bytes = writer.Write();
  EXPECT_EQ(Scan(bytes).packed_bytes, bytes.size());
}

}  // namespace
}  // namespace wasinn::test
