// The contract, on llama.cpp.
#include "backends/contract_test.h"
#include "backends/llama_guest.h"

namespace wasinn::test {
namespace {

std::vector<Tensor> PromptAndOptions(int variant, int64_t /*rows*/) {
  const std::string prompts[] = {"the hen ate", "the oats an", "and then, a"};
  // Tokens count with "decode" alone.
  return {Text(prompts[variant]), Text(R"({"temp": 0, "n-predict": )" + std::to_string(3 + variant) + "}"),
          MakeTensor<int32_t>(WASINN_DTYPE_I32, {1, 2}, {variant, 1})};
}

Subject Llama() {
  const auto text = [](const char* name, uint32_t flags) {
    return Port{.name = name, .dtype = WASINN_DTYPE_U8, .dims = {-1}, .flags = flags};
  };
  return {.name = "Text",
          .bytes = [] { return TinyLlamaWriter().Write(); },
          .options = LlamaOptions(R"({"n-predict": 4, "threads": 1})"),
          .inputs = {text("prompt", WASINN_IO_OPAQUE),
                     text("options", WASINN_IO_OPAQUE | WASINN_IO_OPTIONAL),
                     {.name = "tokens",
                      .dtype = WASINN_DTYPE_I32,
                      .dims = {-1, -1},
                      .flags = WASINN_IO_OPTIONAL | WASINN_IO_ROW}},
          .outputs = {text("completion", 0),
                      text("metadata", WASINN_IO_ALWAYS),
                      text("message", 0),
                      text("probabilities", 0),
                      {.name = "embeddings", .dtype = WASINN_DTYPE_F32, .dims = {-1, -1}, .flags = 0},
                      text("step_probabilities", 0),
                      {.name = "logits", .dtype = WASINN_DTYPE_F32, .dims = {-1, -1}, .flags = 0},
                      {.name = "logit_tokens", .dtype = WASINN_DTYPE_I32, .dims = {-1, -1}, .flags = 0},
                      {.name = "step_tokens", .dtype = WASINN_DTYPE_I32, .dims = {-1}, .flags = 0},
                      text("generation", 0)},
          .make_inputs = PromptAndOptions,
          .takes_outputs = false,
          .generates = true,
          .checks_inputs = false};
}

EXPECT_CONTRACT(Llama, Contract, Llama());
EXPECT_FRAMEWORK(Llama, {.name = "llama.cpp", .install = "llama", .subject = Llama(), .no_device = "it has cpu"});

}  // namespace
}  // namespace wasinn::test
