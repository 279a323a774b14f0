// Tensors that do not fit: rank, type, shape, length, index; and odd ones that do.
#include "attack.h"

using namespace attack;

namespace {

uint32_t g_context = 0;
uint32_t g_dims[40];
float g_data[192];

// A tensor of four dims for the input f32 [1, 3, 8, 8], with one thing changed.
struct Given {
  std::vector<uint32_t> dims = {1, 3, 8, 8};
  uint32_t rank = 4;
  uint8_t type = WASI_NN_F32;
  uint32_t size = sizeof(g_data);
  uint32_t index = 0;
};

uint32_t Set(const Given& given) {
  for (uint32_t& dim : g_dims) dim = 1;
  for (size_t i = 0; i < given.dims.size(); ++i) g_dims[i] = given.dims[i];
  // The padding is no part of the standard's meaning.
  const RawTensor tensor{Address(g_dims), given.rank, given.type, {0xff, 0xff, 0xff}, Address(g_data), given.size};
  return SetInput(g_context, given.index, Address(&tensor));
}

void TryFixedShape() {
  for (const uint32_t rank : {0u, 1u, 3u, 5u, 32u, 33u, 0x40000000u, 0x40000004u, 0x80000000u, 0xffffffffu}) {
    Tell("rank " + std::to_string(rank), Set({.rank = rank}));
  }
  for (const int type : {0, 2, 3, 4, 5, 6, 7, 128, 255}) {
    Tell("type " + std::to_string(type), Set({.type = static_cast<uint8_t>(type)}));
  }
  for (const uint32_t size : {0u, 1u, 767u, 769u, 1536u}) {
    Tell("length " + std::to_string(size), Set({.size = size}));
  }
  for (const uint32_t index : {1u, 2u, 0x7fffffffu, 0x80000000u, 0xfffffffeu, 0xffffffffu}) {
    Tell("input " + std::to_string(index), Set({.index = index}));
  }
  Tell("shape [3, 1, 8, 8]", Set({.dims = {3, 1, 8, 8}}));
  Tell("shape [1, 3, 64, 1]", Set({.dims = {1, 3, 64, 1}}));
  Tell("shape [1, 3, 8, 0]", Set({.dims = {1, 3, 8, 0}, .size = 0}));
  Tell("shape [1, 3, 8, 2^32-8]", Set({.dims = {1, 3, 8, 0xfffffff8}}));
  Tell("the right one", Set({}));
}

uint32_t SetTwo(uint32_t rows, uint32_t columns, uint32_t size, uint32_t data = Address(g_data)) {
  const uint32_t dims[] = {rows, columns};
  const RawTensor tensor{Address(dims), 2, WASI_NN_F32, {}, data, size};
  return SetInput(g_context, 0, Address(&tensor));
}

// Each product is a small number modulo 2^32 or 2^64.
void TryDynamicShape() {
  g_context = NewContext("dynamic");
  Tell("[2^30, 1] of 0 bytes", SetTwo(1u << 30, 1, 0));
  Tell("[2^30+1, 1] of 4 bytes", SetTwo((1u << 30) + 1, 1, 4));
  Tell("[2^31, 2] of 16 bytes", SetTwo(1u << 31, 2, 16));
  Tell("[2^32-1, 2^32-1] of 4 bytes", SetTwo(0xffffffff, 0xffffffff, 4));
  Tell("[2^31, 2^31] of 0 bytes", SetTwo(1u << 31, 1u << 31, 0));
  // 602,112 bytes are said, 4 are there.
  Tell("[3, 50176] at the end of memory", SetTwo(3, 50176, 602112, End() - 4));
  Tell("[3, 50176] of 4 bytes", SetTwo(3, 50176, 4, End() - 4));
  for (const uint32_t other : {0u, 1u, 1u << 31, 0xffffffffu}) {
    const std::string name = std::to_string(other);
    Tell("[0, " + name + "]", SetTwo(0, other, 0));
    Tell("[0, " + name + "] compute", Compute(g_context));
    Tell("[" + name + ", 0]", SetTwo(other, 0, 0));
    Tell("[" + name + ", 0] compute", Compute(g_context));
    uint32_t written = 1;
    Tell("[" + name + ", 0] output", GetOutput(g_context, 0, 0, 0, Address(&written)));
    std::printf("its size is %u\n", static_cast<unsigned>(written));
  }
  Tell("[0, 2^31] of 4 bytes", SetTwo(0, 1u << 31, 4));
}

void TryOutputs() {
  float buffer[4];
  uint32_t written = 0;
  Tell("set [2, 2]", SetTwo(2, 2, 16));
  Tell("compute", Compute(g_context));
  Tell("an input that is refused", SetTwo(2, 2, 15));
  for (const uint32_t index : {1u, 0x7fffffffu, 0x80000000u, 0xffffffffu}) {
    Tell("output " + std::to_string(index), GetOutput(g_context, index, Address(buffer), 16, Address(&written)));
  }
  for (const uint32_t size : {0u, 15u, 16u}) {
    Tell("output into " + std::to_string(size) + " bytes",
         GetOutput(g_context, 0, Address(buffer), size, Address(&written)));
    std::printf("its size is %u\n", static_cast<unsigned>(written));
  }
}

void TryTypes() {
  g_context = NewContext("identity_bool");
  Tell("a bool of 2", SetValues<uint8_t>(g_context, 0, {2, 3}, WASI_NN_U8, {0, 1, 0, 1, 2, 1}));
  Tell("compute after a bool of 2", Compute(g_context));
  g_context = NewContext("identity_scalar");
  Tell("a scalar as [1, 1]", SetValues<float>(g_context, 0, {1, 1}, WASI_NN_F32, {1}));
  Tell("a scalar as [2]", SetValues<float>(g_context, 0, {2}, WASI_NN_F32, {1, 2}));
  Tell("a scalar as [1]", SetValues<float>(g_context, 0, {1}, WASI_NN_F32, {1}));
  Tell("a scalar as []", SetValues<float>(g_context, 0, {}, WASI_NN_F32, {1}));
  g_context = NewContext("identity_i16");
  Tell("i16 as u8 with an odd last dim", SetValues<uint8_t>(g_context, 0, {2, 3}, WASI_NN_U8, {1, 2, 3, 4, 5, 6}));
  Tell("i16 as i32", SetValues<int32_t>(g_context, 0, {2, 3}, WASI_NN_I32, {1, 2, 3, 4, 5, 6}));
  g_context = NewContext("identity_empty");
  Tell("no bytes at a null pointer", SetValues<float>(g_context, 0, {0, 3}, WASI_NN_F32, {}));
  Tell("no bytes compute", Compute(g_context));
  g_context = NewContext("identity_string");
  Tell("a string as u8", SetValues<uint8_t>(g_context, 0, {2, 3}, WASI_NN_U8, {1, 2, 3, 4, 5, 6}));
  Tell("strings compute", Compute(g_context));
  std::vector<uint8_t> strings(size_t{2} * 3 * 5);
  strings[0] = 200;
  Tell("a string beyond its bytes", SetValues(g_context, 0, {2, 3, 5}, WASI_NN_U8, strings));
  Tell("its compute", Compute(g_context));
  Tell("strings output", GetOutput(g_context, 0, 0, 0, Address(&g_dims)));
}

}  // namespace

int main() {
  const Honest honest;
  g_context = NewContext("mean");
  TryFixedShape();
  honest.Infer();
  TryDynamicShape();
  TryOutputs();
  honest.Infer();
  TryTypes();
  honest.Infer();
}
