// The layouts of WAMR's module wasi_nn, with pointers and counts that no honest guest has. Prints "WHAT: ERRNO" for
// each, and at the end what an honest inference with the host's model "sum" gives.
//
//   wamr_hostile MODEL       a file of the same model

#include <cstdint>
#include <cstdio>
#include <vector>

// The functions of wasi_nn_wamr.h, with plain numbers in place of pointers.
#define IMPORT(name) __attribute__((import_module("wasi_nn"), import_name(name)))
uint32_t Load(uint32_t builders, uint32_t encoding, uint32_t target, uint32_t out) IMPORT("load");
uint32_t LoadByName(uint32_t name, uint32_t size, uint32_t out) IMPORT("load_by_name");
uint32_t InitContext(uint32_t graph, uint32_t out) IMPORT("init_execution_context");
uint32_t SetInput(uint32_t context, uint32_t index, uint32_t tensor) IMPORT("set_input");
uint32_t Compute(uint32_t context) IMPORT("compute");
uint32_t GetOutput(uint32_t context, uint32_t index, uint32_t buffer, uint32_t size) IMPORT("get_output");

namespace {

uint32_t Address(const volatile void* pointer) { return reinterpret_cast<uint32_t>(pointer); }
uint32_t End() { return static_cast<uint32_t>(__builtin_wasm_memory_size(0)) << 16; }

constexpr uint32_t kMost = UINT32_MAX, kTfLite = 4, kCpu = 0, kF32 = 1, kRank = 4;

void Tell(const char* what, uint32_t error) {
  std::printf("%s: %u\n", what, static_cast<unsigned>(error));
  std::fflush(stdout);
}

uint32_t graph, context;
std::vector<uint8_t> model;
float image[25];
float sum;
uint32_t dims[kRank] = {1, 5, 5, 1};

struct Record {
  uint32_t address, count;
};
struct RawTensor {
  uint32_t shape, type, data;
};

uint32_t Set(const RawTensor& tensor) { return SetInput(context, 0, Address(&tensor)); }
uint32_t SetShape(const Record& shape) { return Set({Address(&shape), kF32, Address(image)}); }
uint32_t LoadRecord(const Record& builders, uint32_t encoding = kTfLite) {
  return Load(Address(&builders), encoding, kCpu, Address(&graph));
}
uint32_t LoadPart(const Record& part) { return LoadRecord({Address(&part), 1}); }

void Loads() {
  const auto size = static_cast<uint32_t>(model.size());
  const Record part = {Address(model.data()), size};
  const Record parts = {Address(&part), 1};
  Tell("load of a record at 0 in memory", Load(0, kTfLite, kCpu, Address(&graph)));
  Tell("load of a record that ends outside", Load(End() - 4, kTfLite, kCpu, Address(&graph)));
  Tell("load of a record outside", Load(End(), kTfLite, kCpu, Address(&graph)));
  Tell("load of a record at the last address", Load(kMost, kTfLite, kCpu, Address(&graph)));
  Tell("load to outside", Load(Address(&parts), kTfLite, kCpu, End() - 3));
  Tell("load of no parts", LoadRecord({Address(&part), 0}));
  Tell("load of 2^32-1 parts", LoadRecord({Address(&part), kMost}));
  Tell("load of 2^29 parts, whose size wraps", LoadRecord({Address(&part), 1u << 29}));
  Tell("load of parts outside", LoadRecord({End() - 4, 1}));
  Tell("load of a part outside", LoadPart({End(), 1}));
  Tell("load of a part that ends outside", LoadPart({End() - size + 1, size}));
  Tell("load of a part of 2^32-1 bytes", LoadPart({Address(model.data()), kMost}));
  Tell("load of encoding 7", LoadRecord(parts, 7));
  Tell("load for target 4", Load(Address(&parts), kTfLite, 4, Address(&graph)));
  Tell("load_by_name of a name outside", LoadByName(End() - 2, 3, Address(&graph)));
  Tell("load_by_name of 2^32-1 bytes", LoadByName(Address("sum"), kMost, Address(&graph)));
}

void Inputs() {
  const Record shape = {Address(dims), kRank};
  const Record none = {0, 0}, wrapping = {Address(dims), 1u << 30};
  Tell("tensor at the end", SetInput(context, 0, End() - 8));
  Tell("tensor at the last address", SetInput(context, 0, kMost));
  Tell("shape at the end", Set({End() - 4, kF32, Address(image)}));
  Tell("shape of rank 2^32-1", SetShape({Address(dims), kMost}));
  Tell("shape of rank 2^30, whose size wraps", SetShape(wrapping));
  Tell("shape of rank 0", SetShape(none));
  Tell("dimensions outside", SetShape({End() - 12, kRank}));
  Tell("data at the end", Set({Address(&shape), kF32, End() - 4}));
  Tell("data at the last address", Set({Address(&shape), kF32, kMost}));
  Tell("type 4", Set({Address(&shape), 4, Address(image)}));
  Tell("type 2^32-1", Set({Address(&shape), kMost, Address(image)}));
  const uint32_t good[kRank] = {1, 5, 5, 1};
  dims[0] = 1u << 30;  // times 25 times 4 bytes
  Tell("more bytes than 32 bits can say", Set({Address(&shape), kF32, Address(image)}));
  dims[0] = dims[1] = dims[2] = kMost;
  Tell("more bytes than 64 bits can say", Set({Address(&shape), kF32, Address(image)}));
  for (uint32_t i = 0; i < kRank; ++i) dims[i] = good[i];
  const RawTensor tensor = {Address(&shape), kF32, Address(image)};
  Tell("input 1", SetInput(context, 1, Address(&tensor)));
  Tell("input 2^32-1", SetInput(context, kMost, Address(&tensor)));
  Tell("compute without an input", Compute(context));
}

void Outputs() {
  const Record shape = {Address(dims), kRank};
  for (int i = 0; i < 25; ++i) image[i] = static_cast<float>(i);
  Tell("an honest input", Set({Address(&shape), kF32, Address(image)}));
  Tell("an honest compute", Compute(context));
  uint32_t size = 1;
  Tell("size outside", GetOutput(context, 0, Address(&sum), End() - 2));
  Tell("buffer outside", GetOutput(context, 0, End() - 2, Address(&size)));
  Tell("output 1", GetOutput(context, 1, Address(&sum), Address(&size)));
  size = kMost;
  Tell("a buffer of 2^32-1 floats", GetOutput(context, 0, Address(&sum), Address(&size)));
  size = 1u << 30;
  Tell("a buffer of 2^30 floats, whose size wraps", GetOutput(context, 0, Address(&sum), Address(&size)));
  size = 1;
  Tell("a buffer that ends outside", GetOutput(context, 0, End() - 2, Address(&size)));
  size = 0;
  Tell("a buffer of nothing", GetOutput(context, 0, Address(&sum), Address(&size)));
  std::printf("it needs %u, and has %g\n", static_cast<unsigned>(size), static_cast<double>(sum));
  size = 1;
  Tell("an honest buffer", GetOutput(context, 0, Address(&sum), Address(&size)));
  std::printf("the sum of %u float: %g\n", static_cast<unsigned>(size), static_cast<double>(sum));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  std::FILE* file = std::fopen(argv[1], "rb");
  if (file == nullptr) return 2;
  for (int byte; (byte = std::fgetc(file)) != EOF;) model.push_back(static_cast<uint8_t>(byte));
  std::fclose(file);
  Loads();
  Tell("load_by_name", LoadByName(Address("sum"), 3, Address(&graph)));
  Tell("a context to outside", InitContext(graph, End() - 3));
  Tell("a context", InitContext(graph, Address(&context)));
  Inputs();
  Outputs();
}
