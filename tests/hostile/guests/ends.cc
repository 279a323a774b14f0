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
  if (how == "frames") return FillFrames(0);
  if (how == "division") return g_one / g_zero;
  if (how == "bounds") return *reinterpret_cast<volatile char*>(0xfffffff0);
  if (how == "indirect") return g_wrong(1, 2);
  return 9;
}
