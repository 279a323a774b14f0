// attack.c for components, which can express less: what is no handle and no pointer ends in a trap, whatever the
// framework.
//
//   attack_component TYPE DIMS INPUT FILE[,FILE] NAME OUTPUT [ENCODING FIRST]
//
// NAME and OUTPUT are the model's names of its input and output. Errors are numbers from 1000, as interface.h has them.
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
  uint32_t encoding;
  bool has_encoding;
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

static uint32_t LoadModel(uint32_t* graph) {
  return g.has_encoding ? NnLoad(g.parts, g.part_count, g.encoding, graph) : NnLoadByName("model", graph);
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
  Die("honest load", LoadModel(&g.graph));
  Die("honest context", NnInit(g.graph, &g.context));
  Die("first inference", Infer(&g.input, g.output_name));
  memcpy(g.output, g_buffer, g_written);
  g.output_size = g_written;
}

static void Refused(const char* what, uint32_t error) {
  printf("%s: %s\n", what, error >= 1000 && error < 1009 ? "refused" : error == 0 ? "done" : "no error of wasi:nn");
  fflush(stdout);
}

// An input that is wrong in one way.
static void WrongInput(uint32_t which) {
  static const uint32_t kHuge[kMaxRank] = {~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u};
  static const char* const kWrong[] = {"a tensor of another type", "a byte less", "no bytes",
                                       "a shape beyond all memory", "another one"};
  NnInput input = g.input;
  if (which == 0) input.type = input.type == kNnU8 ? kNnF32 : kNnU8;
  if (which == 1) --input.size;
  if (which == 2) input.size = 0;
  if (which >= 3) input.dims = kHuge;
  if (which == 4) input.rank = kMaxRank;
  Refused(kWrong[which], Infer(&input, g.output_name));
}

static void WrongName(uint32_t which) {
  static const char* const kNames[] = {"", "no such name", "4294967296", "-1"};
  NnInput input = g.input;
  input.name = kNames[which];
  Refused("an input that is not there", Infer(&input, g.output_name));
}

static void NoInput(uint32_t unused) {
  (void)unused;
  const NnInput none = {0};
  uint32_t context = 0;
  Die("a context", NnInit(g.graph, &context));
  Refused("no input", NnInfer(context, &none, g.output_name, g_buffer, kRoom, &g_written));
}

static void Encodings(uint32_t unused) {
  (void)unused;
  uint32_t graph = 0;
  printf("encodings of these bytes:");
  for (uint32_t encoding = 0; encoding < 7; ++encoding) {
    if (NnLoad(g.parts, g.part_count, encoding, &graph) == 0) printf(" %u", (unsigned)encoding);
  }
  printf("\n");
}

static void NoModels(uint32_t encoding) {
  uint32_t graph = 0;
  const NnPart nothing = {"", 0}, noise = {"neither fish nor fowl", 21};
  NnPart many[17];
  for (int i = 0; i < 17; ++i) many[i] = g.parts[0];
  const uint32_t errors[] = {NnLoad(NULL, 0, encoding, &graph), NnLoad(&nothing, 1, encoding, &graph),
                             NnLoad(&noise, 1, encoding, &graph), NnLoad(many, 17, encoding, &graph)};
  for (int i = 0; i < 4; ++i) {
    if (errors[i] < 1000 || errors[i] >= 1009) printf("models that are none: %u\n", (unsigned)errors[i]);
  }
}

static void Names(uint32_t unused) {
  (void)unused;
  uint32_t graph = 0;
  Refused("a name that is not there", NnLoadByName("nothing", &graph));
  Refused("no name", NnLoadByName("", &graph));
}

static void Quotas(uint32_t unused) {
  (void)unused;
  uint32_t out = 0;
  int graphs = 0, contexts = 0, others = 0;
  for (int i = 0; i < kMany; ++i) {
    const uint32_t graph = LoadModel(&out), context = NnInit(g.graph, &out);
    graphs += graph == 0;
    contexts += context == 0;
    others += (graph != 0 && graph != kTooLarge) + (context != 0 && context != kTooLarge);
  }
  printf("graphs are bounded: %s\n", graphs < kMany ? "yes" : "no");
  printf("contexts: %d\n", contexts);
  printf("other errors: %d\n", others);
}

// As in attack.c.
static const struct {
  void (*run)(uint32_t which);
  uint32_t count;
  bool honest;
} kParts[] = {{WrongInput, 5, false}, {WrongName, 4, false}, {NoInput, 1, true}, {Encodings, 1, false},
              {NoModels, 7, false},   {Names, 1, true},      {Quotas, 1, true}};

int main(int argc, char** argv) {
  if (argc != 7 && argc != 9) return 2;
  g.has_encoding = argc == 9;
  if (g.has_encoding) g.encoding = (uint32_t)atoi(argv[7]);
  const uint32_t first = g.has_encoding ? (uint32_t)atoi(argv[8]) : 0;
  Start(argv);
  Honest();
  uint32_t number = 0;
  for (size_t part = 0; part < sizeof(kParts) / sizeof(*kParts); ++part) {
    for (uint32_t which = 0; which < kParts[part].count; ++which, ++number) {
      if (number < first) continue;
      if (g.has_encoding) printf("part %u\n", (unsigned)number), fflush(stdout);
      kParts[part].run(which);
      if (g.has_encoding || (kParts[part].honest && which + 1 == kParts[part].count)) Honest();
    }
  }
  for (uint32_t i = 0; i < g.output_size; ++i) printf("%02x", g.output[i]);
  printf("\n");
}
