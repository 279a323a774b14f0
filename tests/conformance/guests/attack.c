// The core of the hostile suite, small enough to run on every framework over every form of wasi-nn: what no function
// may take, what makes no sense in its order, and more than there may be. After each part an honest inference gives the
// bytes that the first one gave.
//
//   attack TYPE DIMS INPUT FILE[,FILE] [ENCODING FIRST]
//
// TYPE (f32, u8) and DIMS are those of the tensor in the file INPUT, an honest input 0 of the host's model "model",
// which FILE is too. Output 0 is what the model answers. Prints "WHAT: N x ERRNO, …" for each attack, and the honest
// output in hex. With ENCODING the model is FILE, as the form numbers its encoding, and the host needs none of that name.
// The parts are counted from 0, and those before FIRST left out: on a host that ends a guest for an attack, another guest
// goes on. Each is then announced by "part N".
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
  uint32_t encoding;  // 0 if the host has the model
  int has_encoding;
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

static uint32_t LoadModel(uint32_t out) {
  if (g.has_encoding) return RawLoad(Address(g.parts), g.part_count, g.encoding, 0, out);
  return RawLoadByName(Address("model"), 5, out);
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
  Die("honest load", LoadModel(Address(&g.graph)));
  Die("honest init_execution_context", RawInit(g.graph, Address(&g.context)));
  Infer();
  memcpy(g.output, g_buffer, g_out);
  g.output_size = g_out;
}

// ---- pointers and lengths

typedef uint32_t (*Attack)(uint32_t bad);

static uint32_t LoadWith(uint32_t data, uint32_t size) {
  const Part part = {data, size};
  return RawLoad(Address(&part), 1, g.encoding, 0, Address(&g_out));
}
static uint32_t LoadBuilders(uint32_t bad) { return RawLoad(bad, 1, g.encoding, 0, Address(&g_out)); }
static uint32_t LoadManyBuilders(uint32_t bad) { return RawLoad(bad, 16, g.encoding, 0, Address(&g_out)); }
static uint32_t LoadBytes(uint32_t bad) { return LoadWith(bad, 4); }
static uint32_t LoadGraph(uint32_t bad) { return RawLoad(Address(g.parts), g.part_count, g.encoding, 0, bad); }
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

static const struct {
  const char* name;
  Attack attack;
} kPointers[] = {{"builders outside", LoadBuilders},
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
enum { kPointerCount = sizeof(kPointers) / sizeof(*kPointers) };

static void Pointers(uint32_t i) {
  Tally tally = {};
  for (uint32_t place = 0; place < kBadPlaces; ++place) Add(&tally, kPointers[i].attack(BadPlace(place)));
  PrintTally(kPointers[i].name, &tally);
}

// Good addresses, with lengths that are not.
static uint32_t LoadLength(uint32_t size) { return LoadWith(Address(g_buffer), size); }
static uint32_t NameLength(uint32_t size) { return RawLoadByName(Address(g_buffer), size, Address(&g_out)); }
static uint32_t GetLength(uint32_t size) { return RawGet(g.context, 0, Address(g_buffer), size, Address(&g_out)); }

static void Lengths(uint32_t i) {
  static const struct {
    const char* name;
    Attack attack;
  } kLengths[] = {
      {"bytes of a model too long", LoadLength}, {"names too long", NameLength}, {"buffers too long", GetLength}};
  const uint32_t here = Address(g_buffer);
  const uint32_t sizes[] = {End() - here + 1, 0xffffffff, 0u - here};
  Tally tally = {};
  for (size_t n = 0; n < 3; ++n) Add(&tally, kLengths[i].attack(sizes[n]));
  PrintTally(kLengths[i].name, &tally);
}

static void BuilderCounts(uint32_t unused) {
  (void)unused;
  Tally counts = {};
  for (const uint32_t *n = (const uint32_t[]){0, 17, 0x20000000, 0xffffffff}, *end = n + 4; n < end; ++n) {
    Add(&counts, RawLoad(Address(g.parts), *n, g.encoding, 0, Address(&g_out)));
  }
  PrintTally("0, 17, 2^29 and 2^32-1 builders", &counts);
}

// ---- handles, tensors, numbers, order

static void Handles(uint32_t unused) {
  (void)unused;
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

// A tensor or output number that is none: what `attack` makes of each of some numbers.
static uint32_t SetType(uint32_t type) {
  RawTensor tensor = g.input;
  tensor.type = type;
  return RawSet(g.context, &tensor);
}
static uint32_t SetRank(uint32_t rank) {
  RawTensor tensor = g.input;
  tensor.rank = rank;
  return RawSet(g.context, &tensor);
}
static uint32_t SetHuge(uint32_t rank) {
  static const uint32_t kHuge[kMaxRank] = {~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u};
  RawTensor tensor = g.input;
  tensor.dims = Address(kHuge);
  tensor.rank = rank;
  return RawSet(g.context, &tensor);
}
static uint32_t SetIndex(uint32_t index) {
  RawTensor tensor = g.input;
  tensor.index = index;
  return RawSet(g.context, &tensor);
}
static uint32_t GetIndex(uint32_t index) { return RawGet(g.context, index, Address(g_buffer), kRoom, Address(&g_out)); }

static void Tensors(uint32_t i) {
  enum { kMax = 7 };
  const struct {
    const char* name;
    Attack attack;
    uint32_t count, numbers[kMax];
  } numbers[] = {{"types that are none", SetType, 3, {kRawNoType, 128, 255}},
                 {"ranks that are none", SetRank, 4, {33, 0x40000000, 0x40000001, 0xffffffff}},
                 {"shapes beyond all memory", SetHuge, 7, {2, 3, 4, 5, 6, 7, 8}},
                 {"inputs that are not there", SetIndex, 4, {1000, 0x7fffffff, 0x80000000, 0xffffffff}},
                 {"outputs that are not there", GetIndex, 4, {1000, 0x7fffffff, 0x80000000, 0xffffffff}}};
  Tally tally = {};
  for (uint32_t n = 0; n < numbers[i].count; ++n) Add(&tally, numbers[i].attack(numbers[i].numbers[n]));
  PrintTally(numbers[i].name, &tally);
}

// Under which numbers of encodings the model's own bytes are taken.
static void Encodings(uint32_t unused) {
  (void)unused;
  static const uint32_t kNumbers[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 255, 0x80000000, 0xffffffff};
  printf("encodings of these bytes:");
  for (size_t i = 0; i < sizeof(kNumbers) / sizeof(*kNumbers); ++i) {
    if (RawLoad(Address(g.parts), g.part_count, kNumbers[i], 0, Address(&g_out)) == 0) {
      printf(" %u", (unsigned)kNumbers[i]);
    }
  }
  printf("\n");
}

static void Targets(uint32_t unused) {
  (void)unused;
  Tally targets = {};
  for (const uint32_t *n = (const uint32_t[]){4, 255, 0x80000000, 0xffffffff}, *end = n + 4; n < end; ++n) {
    Add(&targets, RawLoad(Address(g.parts), g.part_count, g.encoding, *n, Address(&g_out)));
  }
  PrintTally("targets that are none", &targets);
}

static void Order(uint32_t unused) {
  (void)unused;
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
  printf("the size that is needed: %s\n", size == g.output_size ? "reported" : "not reported");
}

// ---- more than there may be

static void Own(uint32_t unused) {
  (void)unused;
  OwnAttacks(g.graph, g.context);
}

static void Quotas(uint32_t unused) {
  (void)unused;
  Tally graphs = {}, contexts = {}, loads = {};
  for (int i = 0; i < kMany; ++i) Add(&graphs, LoadModel(Address(&g_out)));
  for (int i = 0; i < kMany; ++i) Add(&contexts, RawInit(g.graph, Address(&g_out)));
  Add(&loads, RawLoad(Address(g.parts), g.part_count, g.encoding, 0, Address(&g_out)));
  printf("graphs are bounded: %s\n",
         graphs.counts[0] + graphs.counts[7] == kMany && graphs.counts[7] > 0 ? "yes" : "no");
  PrintTally("contexts", &contexts);
  PrintTally("bytes of one more graph", &loads);
}

// The parts, each as often as it has attacks, and whether an honest inference follows.
static const struct {
  void (*run)(uint32_t which);
  uint32_t count;
  int honest;
} kParts[] = {{Pointers, kPointerCount, 0},
              {Lengths, 3, 0},
              {BuilderCounts, 1, 1},
              {Handles, 1, 0},
              {Tensors, 5, 1},
              {Encodings, 1, 0},
              {Targets, 1, 0},
              {Order, 1, 1},
              {Own, 1, 1},
              {Quotas, 1, 1}};

int main(int argc, char** argv) {
  if (argc != 5 && argc != 7) return 2;
  g.has_encoding = argc == 7;
  if (g.has_encoding) g.encoding = (uint32_t)atoi(argv[5]);
  const uint32_t first = g.has_encoding ? (uint32_t)atoi(argv[6]) : 0;
  Start(argv);
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
