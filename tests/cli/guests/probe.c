// A guest that does what the test asks for: probe COMMAND [ARGS...], commands one after the other.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wasi_nn.h"

extern char** environ;

static unsigned LoadByName(const char* name, wasi_nn_graph* graph) {
  return wasi_nn_load_by_name(name, (uint32_t)strlen(name), graph);
}

static void PrintArgs(int argc, char** argv) {
  for (int i = 0; i < argc; ++i) printf("arg %s\n", argv[i]);
}

static void PrintEnvironment(void) {
  for (char** variable = environ; *variable != NULL; ++variable) printf("env %s\n", *variable);
}

static void PrintFile(const char* path) {
  char text[256];
  FILE* file = fopen(path, "r");
  if (file == NULL || fgets(text, sizeof text, file) == NULL) {
    perror(path);
    exit(3);
  }
  printf("file %s\n", text);
  fclose(file);
}

static void WriteFile(const char* path) {
  FILE* file = fopen(path, "w");
  if (file == NULL || fputs("written by a guest", file) < 0 || fclose(file) != 0) {
    perror(path);
    exit(3);
  }
}

static void PrintInput(void) {
  for (int c; (c = getchar()) != EOF;) putchar(c);
}

// How many graphs, or contexts on one graph, can be had, and the errno of the first that cannot.
static void Count(const char* what, const char* name) {
  wasi_nn_graph graph;
  wasi_nn_context context;
  unsigned errno_ = LoadByName(name, &graph);
  int n = 1;
  if (strcmp(what, "graphs") == 0) {
    for (; n < 10000 && (errno_ = LoadByName(name, &graph)) == 0; ++n) {
    }
  } else {
    for (n = 0; n < 10000 && (errno_ = wasi_nn_init_execution_context(graph, &context)) == 0; ++n) {
    }
  }
  printf("%s %d, then errno %u\n", what, n, errno_);
}

// Loads a text for the echo backend from our own bytes.
static void PrintLoad(void) {
  static const char kModel[] = "GGUF\nin x f32 2,3\n";
  const wasi_nn_builder builder = {kModel, sizeof kModel - 1};
  wasi_nn_graph graph;
  printf("load errno %u\n", wasi_nn_load(&builder, 1, WASI_NN_ENCODING_AUTODETECT, WASI_NN_TARGET_CPU, &graph));
}

// One inference, six floats in and out.
static void Infer(const char* name) {
  const uint32_t dims[] = {2, 3};
  const float in[6] = {1, 2, 3, 4, 5, 6};
  float out[6] = {0};
  uint32_t written = 0;
  wasi_nn_graph graph;
  wasi_nn_context context;
  const wasi_nn_tensor tensor = {dims, 2, WASI_NN_F32, {0}, in, sizeof in};
  unsigned errno_ = LoadByName(name, &graph);
  if (errno_ == 0) errno_ = wasi_nn_init_execution_context(graph, &context);
  if (errno_ == 0) errno_ = wasi_nn_set_input(context, 0, &tensor);
  if (errno_ == 0) errno_ = wasi_nn_compute(context);
  if (errno_ == 0) errno_ = wasi_nn_get_output(context, 0, out, sizeof out, &written);
  printf("infer %s errno %u sum %g\n", name, errno_, out[0] + out[1] + out[2] + out[3] + out[4] + out[5]);
}

#pragma clang diagnostic ignored "-Winfinite-recursion"  // it is the point
static volatile unsigned g_one = 1;

// Calls the host at each depth, even with nearly no stack of the engine left. Uses no stack of the guest.
__attribute__((noinline)) static unsigned Recurse(unsigned depth) {
  const unsigned code = wasi_nn_compute(depth);
  return Recurse(depth + 1) + code * g_one;
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const char* command = argv[i];
    if (strcmp(command, "args") == 0) return PrintArgs(argc, argv), 0;
    if (strcmp(command, "env") == 0) {
      PrintEnvironment();
    } else if (strcmp(command, "stdin") == 0) {
      PrintInput();
    } else if (strcmp(command, "load") == 0) {
      PrintLoad();
    } else if (strcmp(command, "trap") == 0) {
      fflush(stdout);
      __builtin_trap();
    } else if (strcmp(command, "recursion") == 0) {
      return (int)Recurse(0);
    } else if (strcmp(command, "bounds") == 0) {
      return *(volatile char*)0xfffffff0;
    } else if (i + 1 == argc) {
      fprintf(stderr, "unknown command %s\n", command);
      return 2;
    } else if (strcmp(command, "exit") == 0) {
      exit(atoi(argv[++i]));
    } else if (strcmp(command, "read") == 0) {
      PrintFile(argv[++i]);
    } else if (strcmp(command, "write") == 0) {
      WriteFile(argv[++i]);
    } else if (strcmp(command, "graphs") == 0 || strcmp(command, "contexts") == 0) {
      Count(command, argv[++i]);
    } else if (strcmp(command, "infer") == 0) {
      Infer(argv[++i]);
    }
  }
  return 0;
}
