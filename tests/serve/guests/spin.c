// A program that asks a language model by Spin's interface (guest/adapters/spin-llm/wit/llm.wit):
//
//   spin MODEL infer TOKENS PROMPT    the text, and how many tokens the prompt and it have
//   spin MODEL embed TEXT...          how many numbers each has, and the first two; and how many tokens the texts have
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  const char* data;
  uint32_t size;
} Text;

typedef struct {
  uint8_t kind;  // model-not-supported, runtime-error, invalid-input
  Text why;
} Error;

typedef struct {
  uint8_t is_error;
  union {
    struct {
      Text text;
      uint32_t prompt_tokens, generated_tokens;
    } ok;
    Error error;
  };
} Inferred;

typedef struct {
  const float* numbers;
  uint32_t size;
} Embedding;

typedef struct {
  uint8_t is_error;
  union {
    struct {
      const Embedding* embeddings;
      uint32_t size, prompt_tokens;
    } ok;
    Error error;
  };
} Embedded;

#define SPIN(name) __attribute__((import_module("fermyon:spin/llm@2.0.0"), import_name(name)))
SPIN("infer")
void Infer(const char* model, uint32_t model_size, const char* prompt, uint32_t prompt_size, uint32_t has_params,
           uint32_t max_tokens, float repeat_penalty, uint32_t repeat_last, float temperature, uint32_t top_k,
           float top_p, Inferred* result);
SPIN("generate-embeddings")
void Embed(const char* model, uint32_t model_size, const Text* texts, uint32_t n_texts, Embedded* result);

static int Fail(const Error* error) {
  static const char* const kKinds[] = {"not supported", "runtime error", "invalid input"};
  const bool has_text = error->kind != 0;
  printf("%s: %.*s\n", kKinds[error->kind], has_text ? (int)error->why.size : 0, has_text ? error->why.data : "");
  return 1;
}

static Text TextOf(const char* text) { return (Text){text, (uint32_t)strlen(text)}; }

int main(int argc, char** argv) {
  const Text model = TextOf(argv[1]);
  if (strcmp(argv[2], "infer") == 0) {
    const Text prompt = TextOf(argv[4]);
    Inferred result;
    // The settings of Spin's SDK, but for the temperature.
    Infer(model.data, model.size, prompt.data, prompt.size, 1, (uint32_t)atoi(argv[3]), 1.1f, 64, 0, 40, 0.9f, &result);
    if (result.is_error) return Fail(&result.error);
    printf("%.*s\n%u %u", (int)result.ok.text.size, result.ok.text.data, result.ok.prompt_tokens,
           result.ok.generated_tokens);
    return 0;
  }
  Text texts[8];
  for (int i = 3; i < argc; ++i) texts[i - 3] = TextOf(argv[i]);
  Embedded result;
  Embed(model.data, model.size, texts, (uint32_t)argc - 3, &result);
  if (result.is_error) return Fail(&result.error);
  for (uint32_t i = 0; i < result.ok.size; ++i) {
    const Embedding* one = &result.ok.embeddings[i];
    printf("%u [%.9g, %.9g]\n", one->size, one->numbers[0], one->numbers[1]);
  }
  printf("%u", result.ok.prompt_tokens);
  return 0;
}
