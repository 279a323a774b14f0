// ends HOW: holds models and contexts, computes, and ends in a way that no program should.
#include <cstdlib>

#include "attack.h"

using namespace attack;

namespace {

volatile int g_zero = 0, g_one = 1;

// The compiler sees what this program is about.
#pragma clang diagnostic ignored "-Winfinite-recursion"
#pragma clang diagnostic ignored "-Wcast-function-type-mismatch"

__attribute__((noinline)) int Recurse(int depth) { return Recurse(depth + 1) + g_one; }

// Calls the host at each depth, so also where next to nothing of a native stack is left to it.
__attribute__((noinline)) int RecurseAndCall(uint32_t context) {
  if (Compute(context) != WASI_NN_SUCCESS) return 0;
  return RecurseAndCall(context) + g_one;
}

uint32_t ContextWithInput() {
  const uint32_t context = NewContext("digits");
  SetValues(context, 0, {1, 1, 8, 8}, WASI_NN_F32, std::vector<float>(64));
  return context;
}

__attribute__((noinline)) int FillFrames(int depth) {
  volatile char frame[256];
  frame[depth % 256] = static_cast<char>(depth);
  return FillFrames(depth + 1) + frame[depth % 256];
}

using Function = int (*)(int, int);
int One(int value) { return value; }
volatile Function g_wrong = reinterpret_cast<Function>(&One);

}  // namespace

int main(int, char** argv) {
  const Honest honest;
  honest.Infer();
  const std::string how = argv[1];
  if (how == "unreachable") __builtin_trap();
  if (how == "exit") std::exit(7);
  if (how == "exit-125") std::_Exit(125);
  if (how == "exit-255") std::_Exit(255);
  if (how == "abort") std::abort();
  if (how == "recursion") return Recurse(0);
  if (how == "calls") return RecurseAndCall(ContextWithInput());
  if (how == "frames") return FillFrames(0);
  if (how == "division") return g_one / g_zero;
  if (how == "bounds") return *reinterpret_cast<volatile char*>(0xfffffff0);
  if (how == "indirect") return g_wrong(1, 2);
  return 9;
}
