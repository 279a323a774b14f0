// attack.c for components, which can express less: what is no handle and no pointer ends in a trap, whatever the
// framework.
//
//   attack_component TYPE DIMS INPUT FILE[,FILE] NAME OUTPUT [TRAP]
//
// NAME and OUTPUT are the model's names of its input and output; with TRAP, something for which there is no error,
// after an honest inference. Errors are numbers from 1000, as interface.h has them.
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "interface.h"

enum { kMaxRank = 8, kRoom = 1 << 16, kMany = 40, kMaxParts = 2, kTooLarge = 1005 };

static struct {
  NnInput input;
  uint32_t dims[kMaxRank];
  const char* output_name;
  NnPart parts[kMaxParts];
  uint32_t part_count;
  uint32_t graph, context;
  uint8_t output[kRoom];
  uint32_t output_size;
} g;
static uint8_t g_buffer[kRoom];
static uint32_t g_written;

static void Die(const char* what, uint32_t error) {
  if (error == 0) return;
  printf("%s failed: %u\n", what, (unsigned)error);
  exit(70);
}

static NnPart ReadFile(const char* path) {
  FILE* file = fopen(path, "rb");
  if (file == NULL) exit(71);
  if (fseek(file, 0, SEEK_END) != 0) exit(71);
  const long size = ftell(file);
  if (size < 0 || fseek(file, 0, SEEK_SET) != 0) exit(71);
  void* bytes = malloc((size_t)size);
  if (bytes == NULL || fread(bytes, 1, (size_t)size, file) != (size_t)size) exit(71);
  fclose(file);
  return (NnPart){bytes, (uint32_t)size};
}

static uint32_t Infer(const NnInput* input, const char* output) {
  return NnInfer(g.context, input, output, g_buffer, kRoom, &g_written);
}

static void Honest(void) {
  Die("honest inference", Infer(&g.input, g.output_name));
  const bool same = g_written == g.output_size && memcmp(g_buffer, g.output, g_written) == 0;
  printf("honest inference: %s\n", same ? "the same" : "another");
  fflush(stdout);
}

static void Start(char** argv) {
  g.input = (NnInput){.name = argv[5], .type = strcmp(argv[1], "u8") == 0 ? kNnU8 : kNnF32, .dims = g.dims};
  for (char* dim = strtok(argv[2], ","); dim != NULL && g.input.rank < kMaxRank; dim = strtok(NULL, ",")) {
    g.dims[g.input.rank++] = (uint32_t)atoi(dim);
  }
  const NnPart input = ReadFile(argv[3]);
  g.input.data = input.data;
  g.input.size = input.size;
  for (char* path = strtok(argv[4], ","); path != NULL && g.part_count < kMaxParts; path = strtok(NULL, ",")) {
    g.parts[g.part_count++] = ReadFile(path);
  }
  g.output_name = argv[6];
  Die("honest load", NnLoadByName("model", &g.graph));
  Die("honest context", NnInit(g.graph, &g.context));
  Die("first inference", Infer(&g.input, g.output_name));
  memcpy(g.output, g_buffer, g_written);
  g.output_size = g_written;
}

static void Refused(const char* what, uint32_t error) {
  printf("%s: %s\n", what, error >= 1000 && error < 1009 ? "refused" : error == 0 ? "done" : "no error of wasi:nn");
  fflush(stdout);
}

static void Inputs(void) {
  static const uint32_t kHuge[kMaxRank] = {~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u};
  NnInput input = g.input;
  input.type = input.type == kNnU8 ? kNnF32 : kNnU8;
  Refused("a tensor of another type", Infer(&input, g.output_name));
  input = g.input;
  --input.size;
  Refused("a byte less", Infer(&input, g.output_name));
  input.size = 0;
  Refused("no bytes", Infer(&input, g.output_name));
  input = g.input;
  input.dims = kHuge;
  Refused("a shape beyond all memory", Infer(&input, g.output_name));
  input.rank = kMaxRank;
  Refused("another one", Infer(&input, g.output_name));
  input = g.input;
  static const char* const kNames[] = {"", "no such name", "4294967296", "-1"};
  for (size_t i = 0; i < sizeof(kNames) / sizeof(*kNames); ++i) {
    input.name = kNames[i];
    Refused("an input that is not there", Infer(&input, g.output_name));
  }
  uint32_t context = 0;
  Die("a context", NnInit(g.graph, &context));
  input.name = NULL;
  Refused("no input", NnInfer(context, &input, g.output_name, g_buffer, kRoom, &g_written));
}

static void Loads(void) {
  uint32_t graph = 0;
  printf("encodings of these bytes:");
  for (uint32_t encoding = 0; encoding < 7; ++encoding) {
    if (NnLoad(g.parts, g.part_count, encoding, &graph) == 0) printf(" %u", (unsigned)encoding);
  }
  printf("\n");
  const NnPart nothing = {"", 0}, noise = {"neither fish nor fowl", 21};
  NnPart many[17];
  for (int i = 0; i < 17; ++i) many[i] = g.parts[0];
  for (uint32_t encoding = 0; encoding < 7; ++encoding) {
    const uint32_t errors[] = {NnLoad(NULL, 0, encoding, &graph), NnLoad(&nothing, 1, encoding, &graph),
                               NnLoad(&noise, 1, encoding, &graph), NnLoad(many, 17, encoding, &graph)};
    for (int i = 0; i < 4; ++i) {
      if (errors[i] < 1000 || errors[i] >= 1009) printf("models that are none: %u\n", (unsigned)errors[i]);
    }
  }
  Refused("a name that is not there", NnLoadByName("nothing", &graph));
  Refused("no name", NnLoadByName("", &graph));
}

static void Quotas(void) {
  uint32_t out = 0;
  int graphs = 0, contexts = 0, others = 0;
  for (int i = 0; i < kMany; ++i) {
    const uint32_t graph = NnLoadByName("model", &out), context = NnInit(g.graph, &out);
    graphs += graph == 0;
    contexts += context == 0;
    others += (graph != 0 && graph != kTooLarge) + (context != 0 && context != kTooLarge);
  }
  printf("graphs are bounded: %s\n", graphs < kMany ? "yes" : "no");
  printf("contexts: %d\n", contexts);
  printf("other errors: %d\n", others);
}

int main(int argc, char** argv) {
  if (argc < 7) return 2;
  Start(argv);
  Honest();
  Inputs();
  Honest();
  Loads();
  Honest();
  Quotas();
  Honest();
  for (uint32_t i = 0; i < g.output_size; ++i) printf("%02x", g.output[i]);
  printf("\n");
}
