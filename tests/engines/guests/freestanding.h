// The basics of a freestanding guest with threads, since no package has a threaded C library: WASI's functions, stacks,
// waiting.
#pragma once

#include <stdint.h>

enum { kStack = 16384 };

typedef struct {
  const void* data;
  uint32_t size;
} ciovec;
#define WASI(name) __attribute__((import_module("wasi_snapshot_preview1"), import_name(name)))
WASI("proc_exit") _Noreturn void proc_exit(uint32_t code);
WASI("fd_write") uint32_t fd_write(uint32_t fd, const ciovec* parts, uint32_t count, uint32_t* written);
WASI("args_get") uint32_t args_get(char** argv, char* buffer);
WASI("args_sizes_get") uint32_t args_sizes_get(uint32_t* count, uint32_t* size);
__attribute__((import_module("wasi"), import_name("thread-spawn"))) int32_t thread_spawn(void* arg);

// Begins what thread_spawn gets.
typedef struct {
  char* stack_top;  // first, for the assembly below
  uint32_t number;
} thread;

// The function of a thread.
void work(int32_t id, thread* self);

// Each thread has its own __stack_pointer, which must point somewhere before any C runs.
__asm__(
    ".globaltype __stack_pointer, i32\n"
    ".functype work (i32, i32) -> ()\n"
    ".globl wasi_thread_start\n"
    ".export_name wasi_thread_start, wasi_thread_start\n"
    ".type wasi_thread_start,@function\n"
    "wasi_thread_start:\n"
    ".functype wasi_thread_start (i32, i32) -> ()\n"
    "local.get 1\n i32.load 0\n global.set __stack_pointer\n"
    "local.get 0\n local.get 1\n call work\n end_function\n");

static void expect(int condition, uint32_t check) {
  if (!condition) proc_exit(check);
}

static void wait_for(uint32_t* count, uint32_t wanted) {
  for (uint32_t now; (now = __atomic_load_n(count, __ATOMIC_SEQ_CST)) < wanted;) {
    __builtin_wasm_memory_atomic_wait32((int*)count, (int)now, -1);
  }
}

static void arrive(uint32_t* count) {
  __atomic_add_fetch(count, 1, __ATOMIC_SEQ_CST);
  __builtin_wasm_memory_atomic_notify((int*)count, 0xffffffff);
}

// The only argument.
__attribute__((unused)) static const char* argument(void) {
  static char* argv[8];
  static char buffer[256];
  uint32_t count, size;
  expect(args_sizes_get(&count, &size) == 0 && count == 2 && size <= sizeof(buffer), 2);
  expect(args_get(argv, buffer) == 0, 3);
  return argv[1];
}

static char* put(char* at, const char* text) {
  while (*text != 0) *at++ = *text++;
  return at;
}

static char* put_number(char* at, uint32_t number) {
  char digits[10];
  int n = 0;
  do digits[n++] = (char)('0' + number % 10);
  while ((number /= 10) != 0);
  while (n > 0) *at++ = digits[--n];
  return at;
}

// "WHAT NUMBER\n"
static void print(const char* what, uint32_t number) {
  char line[64];
  char* end = put(put_number(put(put(line, what), " "), number), "\n");
  const ciovec part = {line, (uint32_t)(end - line)};
  uint32_t written;
  fd_write(1, &part, 1, &written);
}
