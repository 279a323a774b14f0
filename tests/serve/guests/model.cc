// A model of wasinn:serve (guest/wit/deps/wasinn-serve/model.wit) that does as its name and its inputs say, even if no model should. Its name, which
// is the first argument, says how it describes itself, and the input "what" how it infers. Nothing is ever freed: an instance has one
// request.

#include <unistd.h>
#include <wasi/api.h>

#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "wasi_nn_component.h"

namespace {

using std::string_view;

// The component model's lists and strings.
template <typename T>
struct List {
  List(std::vector<T> from) : items(from.data()), size(from.size()) { new std::vector<T>(std::move(from)); }
  List(std::initializer_list<T> from) : List(std::vector<T>(from)) {}
  List(string_view text) : List(std::vector<T>(text.begin(), text.end())) {}
  List(const std::string& text) : List(string_view(text)) {}

  const T* items;
  size_t size;
};

string_view TextOf(const List<char>& text) { return {text.items, text.size}; }

enum Datatype : uint8_t { kBool, kInt32 = 7, kFp32 = 11, kBytes = 13 };
constexpr const char* kDatatypes[] = {"BOOL",  "UINT8", "UINT16", "UINT32", "UINT64", "INT8", "INT16",
                                      "INT32", "INT64", "FP16",   "BF16",   "FP32",   "FP64", "BYTES"};

struct Io {
  List<char> name;
  uint8_t datatype;
  List<int64_t> shape;
};

struct Metadata {
  List<Io> inputs, outputs;
};

struct Tensor {
  List<char> name;
  uint8_t datatype;
  List<uint64_t> shape;
  List<char> data;
};

using Tensors = std::vector<Tensor>;

enum : uint8_t { kOutputs, kInvalidArgument, kFailed };

struct Answer {
  Answer(Tensors tensors) : is_error(false), outputs(std::move(tensors)) {}
  Answer(uint8_t kind, string_view text) : is_error(true), error{static_cast<uint8_t>(kind - kInvalidArgument), text} {}

  bool is_error;
  union {
    List<Tensor> outputs;
    struct {
      uint8_t kind;
      List<char> text;
    } error;
  };
};

volatile bool always = true;

void LoopForever() {
  while (always) continue;
}

void SleepForever() {
  while (always) sleep(3600);
}

void Trap(const char* why) {
  std::fputs(why, stderr);
  __builtin_trap();
}

// An element of BYTES.
std::string Element(string_view text) {
  const auto size = static_cast<uint32_t>(text.size());
  return std::string(reinterpret_cast<const char*>(&size), sizeof(size)).append(text);
}

// Every type goes out as it came in, under the same name.
Metadata DescribeTypes() {
  std::vector<Io> ios;
  for (const char* name : kDatatypes) ios.push_back({string_view(name), static_cast<uint8_t>(ios.size()), {-1}});
  return {ios, ios};
}

std::string Name() {
  __wasi_size_t count = 0;
  __wasi_size_t size = 0;
  if (__wasi_args_sizes_get(&count, &size) != 0) abort();
  std::vector<uint8_t*> arguments(count);
  std::vector<uint8_t> bytes(size);
  if (__wasi_args_get(arguments.data(), bytes.data()) != 0) abort();
  return reinterpret_cast<const char*>(arguments.at(0));
}

Metadata Describe(string_view name) {
  if (name == "types") return DescribeTypes();
  std::vector<Io> outputs = {{string_view("y"), kFp32, {-1, 2}}, {string_view("label"), kBytes, {-1}}};
  if (name == "describes_loop") LoopForever();
  if (name == "describes_sleep") SleepForever();
  if (name == "describes_trap") Trap("no description");
  if (name == "describes_exit") exit(3);
  if (name == "describes_huge") outputs[0].name = std::string(2 << 20, 'x');
  if (name == "describes_many") outputs = std::vector<Io>(5000, outputs[0]);
  if (name == "describes_twice") outputs[0].name = string_view("label");
  if (name == "describes_rank") outputs[0].shape = std::vector<int64_t>(100, 1);
  return {{{string_view("what"), kBytes, {1}}, {string_view("x"), kFp32, {-1, 2}}}, outputs};
}

Tensors Doubled(const Tensor& x) {
  Tensor y = x;
  y.name = string_view("y");
  std::vector<float> numbers(reinterpret_cast<const float*>(x.data.items),
                             reinterpret_cast<const float*>(x.data.items + x.data.size));
  for (float& number : numbers) number *= 2;
  y.data = string_view(reinterpret_cast<const char*>(numbers.data()), x.data.size);
  const uint64_t rows = x.shape.items[0];
  std::string labels;
  for (uint64_t row = 0; row < rows; ++row) labels += Element("row " + std::to_string(row));
  return {y, {string_view("label"), kBytes, {rows}, labels}};
}

Answer Failed(wasi_nn_error error) {
  wasi_nn_list text;
  wasi_nn_error_data(error, &text);
  return {kFailed, {static_cast<const char*>(text.items), text.count}};
}

// Infers with a model of the host's that gives what it gets.
Answer ByHost(const Tensor& x) {
  wasi_nn_result graph;
  wasi_nn_load_by_name("host", 4, &graph);
  if (graph.is_error) return Failed(graph.handle);
  wasi_nn_result context;
  wasi_nn_init_execution_context(graph.handle, &context);
  if (context.is_error) return Failed(context.handle);
  const std::vector<uint32_t> dims(x.shape.items, x.shape.items + x.shape.size);
  const wasi_nn_named_tensor input = {
      "in", 2, wasi_nn_tensor_new(dims.data(), dims.size(), WASI_NN_FP32, x.data.items, x.data.size)};
  wasi_nn_outputs outputs;
  wasi_nn_compute(context.handle, &input, 1, &outputs);
  if (outputs.is_error) return Failed(outputs.error);
  wasi_nn_list data;
  wasi_nn_tensor_data(outputs.list.items[0].tensor, &data);
  Tensors given = Doubled(x);
  given[0].data = string_view(static_cast<const char*>(data.items), data.count);
  return given;
}

// Very many tensors, all of whose bytes are the same ones.
Tensors OneForAll() {
  const Tensor one = {string_view("y"), kFp32, {1 << 17, 2}, std::string(1 << 20, '\0')};
  return Tensors(4000, one);
}

void GrowForever() {
  static std::vector<std::string> kept;
  while (always) kept.emplace_back(1 << 20, 'x');
}

Answer Infer(string_view what, const Tensor& x) {
  if (what == "host") return ByHost(x);
  if (what == "invalid") return {kInvalidArgument, "such rows are none"};
  if (what == "failed") return {kFailed, "the moon is full"};
  if (what == "one_for_all") return OneForAll();
  Tensors outputs = Doubled(x);
  if (what == "long_message") {
    std::string text;
    while (text.size() < 10000) text += "é";
    return {kFailed, text};
  }
  if (what == "trap") Trap("as was wanted");
  if (what == "loop") LoopForever();
  if (what == "sleep") SleepForever();
  if (what == "exit") exit(0);
  if (what == "grow") GrowForever();
  if (what == "print") {
    dprintf(STDOUT_FILENO, "to stdout\n");
    dprintf(STDERR_FILENO, "to stderr\n");
  }
  for (int line = 0; what == "flood" && line < 100'000; ++line) dprintf(STDOUT_FILENO, "line %d\n", line);
  if (what == "wrong_size") outputs[0].data = std::string(x.data.size + 1, '\0');
  if (what == "long_shape") outputs[0].shape = std::vector<uint64_t>(100'000, 1);
  if (what == "unknown_long") outputs[0].name = std::string(1 << 20, 'z');
  if (what == "many") outputs = Tensors(10'000, outputs[0]);
  if (what == "large") outputs[1] = {string_view("label"), kBytes, {1}, Element(std::string(3 << 20, 'z'))};
  return outputs;
}

}  // namespace

// NOLINTBEGIN(bugprone-reserved-identifier): the linker's name, and the component model's
extern "C" void __wasm_call_ctors();
extern "C" __attribute__((export_name("_initialize"))) void _initialize() { __wasm_call_ctors(); }
// NOLINTEND(bugprone-reserved-identifier)

extern "C" __attribute__((export_name("cabi_realloc"))) void* cabi_realloc(void* old, size_t, size_t align,
                                                                           size_t size) {
  void* memory = size == 0 ? reinterpret_cast<void*>(align) : realloc(old, size);
  if (memory == nullptr) abort();
  return memory;
}

extern "C" __attribute__((export_name("wasinn:serve/model@0.1.0#describe"))) const Metadata* DescribeModel() {
  return new Metadata(Describe(Name()));
}

extern "C" __attribute__((export_name("wasinn:serve/model@0.1.0#infer"))) const Answer* InferWithModel(
    const Tensor* inputs, size_t n_inputs, const List<char>* wanted, size_t n_wanted) {
  if (TextOf(inputs[0].name) != "what") return new Answer(Tensors(inputs, inputs + n_inputs));  // of every type
  const string_view what = TextOf(inputs[0].data).substr(sizeof(uint32_t));
  if (what == "wanted" && n_wanted == 1) {
    for (const Tensor& output : Doubled(inputs[1]))
      if (TextOf(output.name) == TextOf(wanted[0])) return new Answer(Tensors{output});
  }
  return new Answer(Infer(what, inputs[1]));
}
