// The core of the hostile suite, small enough to run on every framework over every form of wasi-nn: what no function
// may take, what makes no sense in its order, and more than there may be. After each part an honest inference gives the
// bytes that the first one gave.
//
//   attack TYPE DIMS INPUT FILE[,FILE]
//
// TYPE (f32, u8) and DIMS are those of the tensor in the file INPUT, an honest input 0 of the host's model "model",
// which FILE is too. Output 0 is what the model answers. Prints "WHAT: N x ERRNO, …" for each attack, and the honest
// output in hex.
#include "attack.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kMaxRank = 8, kRoom = 1 << 16, kMany = 40, kMaxParts = 2 };

typedef struct Part {
  uint32_t data, size;
} Part;

static struct {
  RawTensor input;
  uint32_t dims[kMaxRank];
  Part parts[kMaxParts];
  uint32_t part_count;
  uint32_t graph, context;
  uint8_t output[kRoom];
  uint32_t output_size;
} g;
static uint32_t g_out;
static uint8_t g_buffer[kRoom];

void Add(Tally* tally, uint32_t error) { ++tally->counts[error < 15 ? error : 15]; }

void PrintTally(const char* what, const Tally* tally) {
  const char* separator = ": ";
  printf("%s", what);
  for (uint32_t error = 0; error < 16; ++error) {
    if (tally->counts[error] == 0) continue;
    printf("%s%u x %u", separator, (unsigned)tally->counts[error], (unsigned)error);
    separator = ", ";
  }
  printf("\n");
  fflush(stdout);  // the host may be about to stop this guest
}

uint32_t BadPlace(uint32_t i) {
  const uint32_t places[kBadPlaces] = {End() - 1, End(), 0x80000000, 0xfffffffe, 0xffffffff};
  return places[i];
}

static void Die(const char* what, uint32_t error) {
  if (error == 0) return;
  printf("%s failed: %u\n", what, (unsigned)error);
  exit(70);
}

static Part ReadFile(const char* path) {
  FILE* file = fopen(path, "rb");
  if (file == NULL) {
    printf("cannot open %s\n", path);
    exit(71);
  }
  if (fseek(file, 0, SEEK_END) != 0) exit(71);
  const long size = ftell(file);
  if (size < 0 || fseek(file, 0, SEEK_SET) != 0) exit(71);
  void* bytes = malloc((size_t)size);
  if (bytes == NULL || fread(bytes, 1, (size_t)size, file) != (size_t)size) exit(71);
  fclose(file);
  return (Part){Address(bytes), (uint32_t)size};
}

// ---- the honest inference

static void Infer(void) {
  Die("honest set_input", RawSet(g.context, &g.input));
  Die("honest compute", RawCompute(g.context));
  Die("honest get_output", RawGet(g.context, 0, Address(g_buffer), kRoom, Address(&g_out)));
}

static void Honest(void) {
  Infer();
  const int same = g_out == g.output_size && memcmp(g_buffer, g.output, g_out) == 0;
  printf("honest inference: %s\n", same ? "the same" : "another");
  fflush(stdout);
}

static void Start(char** argv) {
  g.input = (RawTensor){.dims = Address(g.dims), .type = strcmp(argv[1], "u8") == 0 ? kRawU8 : kRawF32};
  for (char* dim = strtok(argv[2], ","); dim != NULL && g.input.rank < kMaxRank; dim = strtok(NULL, ",")) {
    g.dims[g.input.rank++] = (uint32_t)atoi(dim);
  }
  const Part input = ReadFile(argv[3]);
  g.input.data = input.data;
  g.input.size = input.size;
  for (char* path = strtok(argv[4], ","); path != NULL && g.part_count < kMaxParts; path = strtok(NULL, ",")) {
    g.parts[g.part_count++] = ReadFile(path);
  }
  Die("honest load_by_name", RawLoadByName(Address("model"), 5, Address(&g.graph)));
  Die("honest init_execution_context", RawInit(g.graph, Address(&g.context)));
  Infer();
  memcpy(g.output, g_buffer, g_out);
  g.output_size = g_out;
}

// ---- pointers and lengths

typedef uint32_t (*Attack)(uint32_t bad);

static uint32_t LoadWith(uint32_t data, uint32_t size) {
  const Part part = {data, size};
  return RawLoad(Address(&part), 1, 0, 0, Address(&g_out));
}
static uint32_t LoadBuilders(uint32_t bad) { return RawLoad(bad, 1, 0, 0, Address(&g_out)); }
static uint32_t LoadManyBuilders(uint32_t bad) { return RawLoad(bad, 16, 0, 0, Address(&g_out)); }
static uint32_t LoadBytes(uint32_t bad) { return LoadWith(bad, 4); }
static uint32_t LoadGraph(uint32_t bad) { return RawLoad(Address(g.parts), g.part_count, 0, 0, bad); }
static uint32_t LoadName(uint32_t bad) { return RawLoadByName(bad, 4, Address(&g_out)); }
static uint32_t LoadNameGraph(uint32_t bad) { return RawLoadByName(Address("model"), 5, bad); }
static uint32_t InitContext(uint32_t bad) { return RawInit(g.graph, bad); }
static uint32_t SetTensor(uint32_t bad) { return RawSetRecord(g.context, bad); }
static uint32_t SetDims(uint32_t bad) {
  RawTensor tensor = g.input;
  tensor.dims = bad;
  return RawSet(g.context, &tensor);
}
static uint32_t SetData(uint32_t bad) {
  RawTensor tensor = g.input;
  tensor.data = bad;
  return RawSet(g.context, &tensor);
}
static uint32_t GetBuffer(uint32_t bad) { return RawGet(g.context, 0, bad, 16, Address(&g_out)); }
static uint32_t GetSize(uint32_t bad) { return RawGet(g.context, 0, Address(g_buffer), kRoom, bad); }

static void Pointers(void) {
  const struct {
    const char* name;
    Attack attack;
  } pointers[] = {{"builders outside", LoadBuilders},
                  {"16 builders outside", LoadManyBuilders},
                  {"bytes of a model outside", LoadBytes},
                  {"a graph's place outside", LoadGraph},
                  {"a name outside", LoadName},
                  {"a named graph's place outside", LoadNameGraph},
                  {"a context's place outside", InitContext},
                  {"a tensor outside", SetTensor},
                  {"dimensions outside", SetDims},
                  {"data outside", SetData},
                  {"a buffer outside", GetBuffer},
                  {"a size's place outside", GetSize}};
  for (size_t i = 0; i < sizeof(pointers) / sizeof(*pointers); ++i) {
    Tally tally = {};
    for (uint32_t place = 0; place < kBadPlaces; ++place) Add(&tally, pointers[i].attack(BadPlace(place)));
    PrintTally(pointers[i].name, &tally);
  }
}

// Good addresses, with lengths that are not.
static void Lengths(void) {
  const uint32_t here = Address(g_buffer);
  const uint32_t sizes[] = {End() - here + 1, 0xffffffff, 0u - here};
  Tally loads = {}, names = {}, gets = {};
  for (size_t i = 0; i < 3; ++i) {
    Add(&loads, LoadWith(here, sizes[i]));
    Add(&names, RawLoadByName(here, sizes[i], Address(&g_out)));
    Add(&gets, RawGet(g.context, 0, here, sizes[i], Address(&g_out)));
  }
  PrintTally("bytes of a model too long", &loads);
  PrintTally("names too long", &names);
  PrintTally("buffers too long", &gets);
  Tally counts = {};
  for (const uint32_t *n = (const uint32_t[]){0, 17, 0x20000000, 0xffffffff}, *end = n + 4; n < end; ++n) {
    Add(&counts, RawLoad(Address(g.parts), *n, 0, 0, Address(&g_out)));
  }
  PrintTally("0, 17, 2^29 and 2^32-1 builders", &counts);
}

// ---- handles, tensors, numbers, order

static void Handles(void) {
  Tally tally = {};
  uint32_t untouched = 0xabababab;
  for (uint32_t i = 0; i < 12; ++i) {
    const uint32_t masks[] = {0x10000, 0x1fff0000, 0x70000000, 0x80000000, 0xfff0};
    const uint32_t numbers[] = {0, 1, 0x0fffffff & g.graph, 0x0fffffff & g.context, 0x7fffffff, 0xffffffff};
    const int forged = i < 5;
    const uint32_t graph = forged ? g.graph | masks[i] : i == 5 ? g.context : numbers[i - 6];
    const uint32_t context = forged ? g.context | masks[i] : i == 5 ? g.graph : numbers[i - 6];
    Add(&tally, RawInit(graph, Address(&untouched)));
    Add(&tally, RawSet(context, &g.input));
    Add(&tally, RawCompute(context));
    Add(&tally, RawGet(context, 0, Address(g_buffer), kRoom, Address(&g_out)));
  }
  PrintTally("forged handles", &tally);
  printf("results of failed calls are %s\n", untouched == 0xabababab ? "not written" : "written");
}

static void Tensors(void) {
  static const uint32_t kHuge[kMaxRank] = {~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u};
  Tally types = {}, ranks = {}, shapes = {}, inputs = {};
  for (const uint32_t *n = (const uint32_t[]){kRawNoType, 128, 255}, *end = n + 3; n < end; ++n) {
    RawTensor tensor = g.input;
    tensor.type = *n;
    Add(&types, RawSet(g.context, &tensor));
  }
  for (const uint32_t *n = (const uint32_t[]){33, 0x40000000, 0x40000001, 0xffffffff}, *end = n + 4; n < end; ++n) {
    RawTensor tensor = g.input;
    tensor.rank = *n;
    Add(&ranks, RawSet(g.context, &tensor));
  }
  for (uint32_t rank = 2; rank <= kMaxRank; ++rank) {
    RawTensor tensor = g.input;
    tensor.dims = Address(kHuge);
    tensor.rank = rank;
    Add(&shapes, RawSet(g.context, &tensor));
  }
  for (const uint32_t *n = (const uint32_t[]){1000, 0x7fffffff, 0x80000000, 0xffffffff}, *end = n + 4; n < end; ++n) {
    RawTensor tensor = g.input;
    tensor.index = *n;
    Add(&inputs, RawSet(g.context, &tensor));
  }
  PrintTally("types that are none", &types);
  PrintTally("ranks that are none", &ranks);
  PrintTally("shapes beyond all memory", &shapes);
  PrintTally("inputs that are not there", &inputs);
  Tally outputs = {};
  for (const uint32_t *n = (const uint32_t[]){1000, 0x7fffffff, 0x80000000, 0xffffffff}, *end = n + 4; n < end; ++n) {
    Add(&outputs, RawGet(g.context, *n, Address(g_buffer), kRoom, Address(&g_out)));
  }
  PrintTally("outputs that are not there", &outputs);
}

// Under which numbers of encodings the model's own bytes are taken.
static void Numbers(void) {
  static const uint32_t kNumbers[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 255, 0x80000000, 0xffffffff};
  printf("encodings of these bytes:");
  for (size_t i = 0; i < sizeof(kNumbers) / sizeof(*kNumbers); ++i) {
    if (RawLoad(Address(g.parts), g.part_count, kNumbers[i], 0, Address(&g_out)) == 0) {
      printf(" %u", (unsigned)kNumbers[i]);
    }
  }
  printf("\n");
  Tally targets = {};
  for (const uint32_t *n = (const uint32_t[]){4, 255, 0x80000000, 0xffffffff}, *end = n + 4; n < end; ++n) {
    Add(&targets, RawLoad(Address(g.parts), g.part_count, 0, *n, Address(&g_out)));
  }
  PrintTally("targets that are none", &targets);
}

static void Order(void) {
  uint32_t context = 0;
  Die("a context", RawInit(g.graph, Address(&context)));
  printf("compute without an input: %s\n", RawCompute(context) != 0 ? "refused" : "done");
  uint32_t size = 0;
  const uint32_t error = RawGet(context, 0, Address(g_buffer), kRoom, Address(&size));
  printf("an output before it is computed: %s\n", error != 0 ? "refused" : size == 0 ? "empty" : "there");
  // One of two small types is not what the model takes: refused at once or when it computes.
  RawTensor wrong = g.input;
  wrong.type = wrong.type == kRawU8 ? kRawF32 : kRawU8;
  uint32_t refused = RawSet(context, &wrong);
  if (refused == 0) refused = RawCompute(context);
  printf("a tensor of another type: %s\n", refused != 0 ? "refused" : "taken");
  Die("an input", RawSet(context, &g.input));
  Die("a compute", RawCompute(context));
  Tally small = {};
  for (uint32_t room = 0; room < 4; ++room) Add(&small, RawGet(context, 0, Address(g_buffer), room, Address(&size)));
  PrintTally("buffers too small", &small);
  printf("the size that is needed: %s\n", size == g.output_size ? "told" : "not told");
}

// ---- more than there may be

static void Quotas(void) {
  Tally graphs = {}, contexts = {}, loads = {};
  for (int i = 0; i < kMany; ++i) Add(&graphs, RawLoadByName(Address("model"), 5, Address(&g_out)));
  for (int i = 0; i < kMany; ++i) Add(&contexts, RawInit(g.graph, Address(&g_out)));
  Add(&loads, RawLoad(Address(g.parts), g.part_count, 0, 0, Address(&g_out)));
  printf("graphs are bounded: %s\n",
         graphs.counts[0] + graphs.counts[7] == kMany && graphs.counts[7] > 0 ? "yes" : "no");
  PrintTally("contexts", &contexts);
  PrintTally("bytes of one more graph", &loads);
}

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  Start(argv);
  Pointers();
  Lengths();
  Honest();
  Handles();
  Tensors();
  Honest();
  Numbers();
  Order();
  Honest();
  OwnAttacks(g.graph, g.context);
  Honest();
  Quotas();
  Honest();
  for (uint32_t i = 0; i < g.output_size; ++i) printf("%02x", g.output[i]);
  printf("\n");
}
