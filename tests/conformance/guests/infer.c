// Runs models on the tensors of a file, over whichever form of wasi-nn it is linked with.
//
//   infer TYPE DIMS INPUTS OUTPUTS INPUT OUTPUT MODEL...
//
// TYPE (f32, u8) and DIMS (1,1,8,8) are those of one tensor; the file INPUTS has any number of them, one after the
// other. INPUT and OUTPUT are the model's names of its first input and the wanted output. MODEL is name:NAME, or
// bytes:ENCODING:FILE[,FILE] for a model that this program reads itself, or load:ENCODING:FILE[,FILE] for one that it
// only loads and makes a context of. Each other model gets all tensors in turn; its outputs are appended to the file
// OUTPUTS. Prints "MODEL N" for each, N the number of inferences, or "MODEL: CALL: ERROR".
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "interface.h"

enum { kMaxRank = 8, kMaxParts = 2, kRoom = 1 << 16 };

typedef struct Task {
  NnInput input;
  uint32_t dims[kMaxRank];
  const char* output;
  uint8_t* inputs;
  size_t inputs_size;
  FILE* outputs;
} Task;

static uint8_t* ReadFile(const char* path, size_t* size) {
  FILE* file = fopen(path, "rb");
  if (file == NULL) {
    fprintf(stderr, "infer: cannot open %s\n", path);
    exit(2);
  }
  uint8_t* bytes = NULL;
  size_t room = 0;
  *size = 0;
  while (*size == room) {  // a read that fills less than there is room for was the last
    room = room * 2 + 65536;
    uint8_t* more = realloc(bytes, room);
    if (more == NULL) {
      fprintf(stderr, "infer: no memory for %s\n", path);
      exit(2);
    }
    bytes = more;
    *size += fread(bytes + *size, 1, room - *size, file);
  }
  fclose(file);
  return bytes;
}

static void ParseTensor(char** argv, Task* task) {
  task->input.type = strcmp(argv[1], "u8") == 0 ? kNnU8 : kNnF32;
  task->input.size = task->input.type == kNnU8 ? 1 : 4;
  task->input.dims = task->dims;
  for (char* dim = strtok(argv[2], ","); dim != NULL && task->input.rank < kMaxRank; dim = strtok(NULL, ",")) {
    task->dims[task->input.rank++] = (uint32_t)atoi(dim);
    task->input.size *= (uint32_t)atoi(dim);
  }
}

static uint32_t LoadBytes(const char* model, uint32_t* graph) {
  char* text = strdup(model);
  const uint32_t encoding = (uint32_t)atoi(text);
  NnPart parts[kMaxParts];
  uint32_t count = 0;
  for (char* path = strtok(strchr(text, ':') + 1, ","); path != NULL && count < kMaxParts; path = strtok(NULL, ",")) {
    size_t size;
    parts[count].data = ReadFile(path, &size);
    parts[count++].size = (uint32_t)size;
  }
  const uint32_t error = NnLoad(parts, count, encoding, graph);
  // The host keeps no pointer to them: what is written here now changes nothing.
  for (uint32_t i = 0; i < count; ++i) {
    memset((void*)parts[i].data, 0xcc, parts[i].size);
    free((void*)parts[i].data);
  }
  free(text);
  return error;
}

static bool Failed(const char* model, const char* call, uint32_t error) {
  if (error != 0) printf("%s: %s: %u\n", model, call, (unsigned)error);
  return error != 0;
}

static bool Run(const char* model, Task* task) {
  uint32_t graph = 0, context = 0;
  const bool named = strncmp(model, "name:", 5) == 0, only_load = strncmp(model, "load:", 5) == 0;
  const uint32_t error = named ? NnLoadByName(model + 5, &graph) : LoadBytes(strchr(model, ':') + 1, &graph);
  if (Failed(model, "load", error)) return false;
  if (Failed(model, "init", NnInit(graph, &context))) return false;
  static uint8_t buffer[kRoom];
  size_t count = 0;
  for (size_t at = 0; !only_load && at + task->input.size <= task->inputs_size; at += task->input.size, ++count) {
    uint32_t written = 0;
    task->input.data = task->inputs + at;
    if (Failed(model, "infer", NnInfer(context, &task->input, task->output, buffer, kRoom, &written))) return false;
    if (fwrite(buffer, 1, written, task->outputs) != written) return false;
  }
  printf("%s %zu\n", model, count);
  return true;
}

int main(int argc, char** argv) {
  if (argc < 8) return 2;
  static Task task;
  ParseTensor(argv, &task);
  task.inputs = ReadFile(argv[3], &task.inputs_size);
  task.outputs = fopen(argv[4], "wb");
  if (task.outputs == NULL) return 2;
  task.input.name = argv[5];
  task.output = argv[6];
  bool good = true;
  for (int i = 7; i < argc; ++i) good = Run(argv[i], &task) && good;
  return fclose(task.outputs) == 0 && good ? 0 : 1;
}
