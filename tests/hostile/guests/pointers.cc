// Each pointer of each function, at each place where it must not be; then at the last place where it may be.
#include "attack.h"

using namespace attack;

namespace {

struct World {
  Honest honest;
  uint32_t graph = 0, context = 0, out = 0;
  float values[4] = {1, -2, 3, -4};
  uint32_t dims[2] = {2, 2};
  char bytes[8] = {};

  World() : context(NewContext("dynamic")) {
    (void)LoadNamed("dynamic", &graph);
    (void)SetInput(context, 0, Address(Tensor(Address(dims), 2, Address(values), sizeof(values))));
    (void)Compute(context);
  }
  const RawTensor* Tensor(uint32_t dims_at, uint32_t rank, uint32_t data, uint32_t size) {
    tensor = {dims_at, rank, WASI_NN_F32, {}, data, size};
    return &tensor;
  }
  RawTensor tensor;
};

using Attack = uint32_t (*)(World& world, uint32_t bad);
struct Pointer {
  const char* name;
  Attack attack;
};

uint32_t LoadWith(World& w, uint32_t data, uint32_t size) {
  const uint32_t builder[] = {data, size};
  return Load(Address(builder), 1, WASI_NN_ENCODING_ONNX, WASI_NN_TARGET_CPU, Address(&w.out));
}

uint32_t SetWith(World& w, uint32_t dims, uint32_t rank, uint32_t data, uint32_t size) {
  return SetInput(w.context, 0, Address(w.Tensor(dims, rank, data, size)));
}

// `bad` is an address at which less than what is needed is there.
constexpr Pointer kPointers[] = {
    {"load builders", [](World& w, uint32_t bad) { return Load(bad, 1, 1, 0, Address(&w.out)); }},
    {"load 16 builders", [](World& w, uint32_t bad) { return Load(bad, 16, 1, 0, Address(&w.out)); }},
    {"load bytes", [](World& w, uint32_t bad) { return LoadWith(w, bad, 4); }},
    {"load graph", [](World& w, uint32_t bad) { return Load(Address(w.bytes), 1, 1, 0, bad); }},
    {"load_by_name name", [](World& w, uint32_t bad) { return LoadByName(bad, 4, Address(&w.out)); }},
    {"load_by_name graph", [](World&, uint32_t bad) { return LoadByName(Address("digits"), 6, bad); }},
    {"init_execution_context context", [](World& w, uint32_t bad) { return InitContext(w.graph, bad); }},
    {"set_input tensor", [](World& w, uint32_t bad) { return SetInput(w.context, 0, bad); }},
    {"set_input dims", [](World& w, uint32_t bad) { return SetWith(w, bad, 2, Address(w.values), 16); }},
    {"set_input data", [](World& w, uint32_t bad) { return SetWith(w, Address(w.dims), 2, bad, 16); }},
    {"get_output buffer", [](World& w, uint32_t bad) { return GetOutput(w.context, 0, bad, 16, Address(&w.out)); }},
    {"get_output size", [](World& w, uint32_t bad) { return GetOutput(w.context, 0, Address(w.values), 16, bad); }},
};

void TryPlaces(World& world) {
  const uint32_t end = End();
  const struct {
    const char* name;
    uint32_t address;
  } places[] = {{"at the last byte", end - 1},
                {"one past the end", end},
                {"at 2 GiB", 0x80000000},
                {"before 4 GiB", 0xfffffffe},
                {"at the last of 4 GiB", 0xffffffff}};
  for (const Pointer& pointer : kPointers) {
    for (const auto& place : places) {
      Tell(std::string(pointer.name) + " " + place.name, pointer.attack(world, place.address));
    }
  }
}

// Addresses that are good, with lengths that are not.
void TryLengths(World& world) {
  const uint32_t here = Address(world.values), rest = End() - here;
  const struct {
    const char* name;
    uint32_t address, size;
  } ranges[] = {{"one byte too long", here, rest + 1},
                {"4 GiB - 1 long", here, 0xffffffff},
                {"wrapping to its start", here, 0u - here},
                {"2 GiB at 2 GiB", 0x80000000, 0x80000000},
                {"nothing past the end", End() + 1, 0}};
  for (const auto& range : ranges) {
    const std::string name = std::string(" ") + range.name;
    Tell("load bytes" + name, LoadWith(world, range.address, range.size));
    Tell("load_by_name name" + name, LoadByName(range.address, range.size, Address(&world.out)));
    Tell("set_input data" + name, SetWith(world, Address(world.dims), 2, range.address, range.size));
    Tell("get_output buffer" + name, GetOutput(world.context, 0, range.address, range.size, Address(&world.out)));
  }
}

// What ends with memory is inside of it. Nothing here is aligned.
void FitTightly(World& world) {
  __builtin_wasm_memory_grow(0, 1);  // a page that nobody else uses
  const uint32_t end = End();
  std::memcpy(reinterpret_cast<void*>(end - 17), world.values, 16);
  Tell("set_input data before the last byte", SetWith(world, Address(world.dims), 2, end - 17, 16));
  std::memcpy(reinterpret_cast<void*>(end - 8), world.dims, 8);
  Tell("set_input dims that end with memory", SetWith(world, end - 8, 2, end - 16, 16));
  const RawTensor* tensor = world.Tensor(Address(world.dims), 2, Address(world.values), 16);
  std::memcpy(reinterpret_cast<void*>(end - 20), tensor, 20);
  Tell("set_input tensor that ends with memory", SetInput(world.context, 0, end - 20));
  Tell("compute", Compute(world.context));
  Tell("get_output buffer that ends with memory", GetOutput(world.context, 0, end - 16, 16, Address(&world.out)));
  const uint32_t expected[] = {0x3f800000, 0, 0x40400000, 0};  // 1, 0, 3, 0 as floats
  std::printf("its values are %s\n",
              std::memcmp(reinterpret_cast<void*>(end - 16), expected, 16) == 0 ? "right" : "wrong");
  Tell("get_output size that ends with memory", GetOutput(world.context, 0, Address(world.values), 16, end - 4));
  Tell("load_by_name graph that ends with memory", LoadByName(Address("digits"), 6, end - 4));
  Tell("load_by_name an empty name at the end", LoadByName(end, 0, Address(&world.out)));
  Tell("get_output into nothing at the end", GetOutput(world.context, 0, end, 0, Address(&world.out)));
  std::printf("its size is %u\n", static_cast<unsigned>(world.out));
}

}  // namespace

int main() {
  World world;
  TryPlaces(world);
  world.honest.Infer();
  TryLengths(world);
  world.honest.Infer();
  FitTightly(world);
  world.honest.Infer();
}
