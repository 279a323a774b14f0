// Models that are none, or not whole.
#include <sys/resource.h>

#include "backends/llama_guest.h"
#include "backends/llama_models.h"

namespace wasinn::test {
namespace {

TEST(LlamaHostile, LoadRejectsBytesThatAreNoModel) {
  const Host host;
  const std::string model = SmallWriter().Write();
  for (const std::string& bytes :
       {std::string(), std::string("GGUF"), std::string(4000, 'x'), std::string(8, '\0'),
        std::string("GGUF\x03\0\0\0", 8), "GGUF" + std::string(4000, '\xff'), model.substr(0, 64)}) {
    const Model broken(host, bytes, LlamaOptions());
    EXPECT_EQ(broken.loaded().code, WASINN_ERROR_INVALID_ENCODING) << broken.loaded().message;
  }
}

TEST(LlamaHostile, ErrorsContainLlamaCppsMessage) {
  const Host host;
  GgufWriter writer = SmallWriter();
  writer.tensors.pop_back();
  writer.tensors.pop_back();
  const Model missing(host, writer.Write(), LlamaOptions());
  EXPECT_EQ(missing.loaded().code, WASINN_ERROR_INVALID_ENCODING);
  EXPECT_THAT(missing.loaded().message, HasSubstr("output_norm.weight"));
  writer = SmallWriter();
  writer.SetText("general.architecture", "qwen2");
  const Model other(host, writer.Write(), LlamaOptions());
  EXPECT_EQ(other.loaded().code, WASINN_ERROR_INVALID_ENCODING) << "llama.cpp looks for qwen2's own values";
}

TEST(LlamaTooNew, ErrorsNameTheVersionsAndTheRemedy) {
  const Host host;
  GgufWriter writer = SmallWriter();
  writer.version = 99;
  const Model version(host, writer.Write(), LlamaOptions());
  EXPECT_EQ(version.loaded().code, WASINN_ERROR_INVALID_ENCODING);
  EXPECT_THAT(version.loaded().message, AllOf(HasSubstr("version 99: expected 2 or 3"), HasSubstr("is newer than"),
                                              HasSubstr("or convert the model again")));
  writer.version = 3 << 24;
  EXPECT_THAT(Model(host, writer.Write(), LlamaOptions()).loaded().message, ::testing::Not(HasSubstr("newer than")))
      << "it is of a machine with another order of bytes";
  writer = SmallWriter();
  writer.SetText("general.architecture", "llama99");
  writer.SetU32("llama99.context_length", 512);
  const Model architecture(host, writer.Write(), LlamaOptions());
  EXPECT_THAT(architecture.loaded().message,
              AllOf(HasSubstr("llama99"), HasSubstr("if the model is newer than llama.cpp ")));
}

// Contexts are charged by what a file says of itself. llama.cpp would read this one: it ends names at a byte 0.
TEST(LlamaHostile, NamesWithAByte0AreRefused) {
  const Host host;
  const std::string hidden("llama\0", 6);
  GgufWriter writer = TinyLlamaWriter();
  writer.SetText("general.architecture", hidden);
  writer.SetU32(hidden + ".context_length", 512);
  const Model architecture(host, writer.Write(), LlamaOptions());
  EXPECT_EQ(architecture.loaded().code, WASINN_ERROR_INVALID_ENCODING) << architecture.loaded().message;
  writer = TinyLlamaWriter();
  for (GgufWriter::Value& value : writer.values) {
    if (value.key == "llama.block_count") value.key.push_back('\0');
  }
  const Model key(host, writer.Write(), LlamaOptions());
  EXPECT_EQ(key.loaded().code, WASINN_ERROR_INVALID_ENCODING) << key.loaded().message;
}

// A model that comes as bytes is a file in memory, and the system ends a program that writes more to a file than is allowed.
TEST(LlamaHostile, AModelLoadsDespiteTheFileSizeLimit) {
  const Host host;
  rlimit before = {};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit small = {.rlim_cur = 1024, .rlim_max = before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const Model model(host, SmallWriter().Write(), LlamaOptions());
  setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_TRUE(model.loaded()) << model.loaded().message;
}

}  // namespace
}  // namespace wasinn::test
