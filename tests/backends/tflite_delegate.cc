// An external delegate, as makers of accelerators ship them: takes the additions of two float tensors of one shape.
// Options: `fail`: refuses with that message; `absent`: refuses while this file is there; `log`: a file that gets a
// line for each thing that happens; `wrong`: gives the sum plus this number, so that a test sees which one computed; `hold`:
// the one compute that finds this file names it FILE.held and waits until that is gone.
#include <tensorflow/lite/c/common.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <thread>

namespace {

struct State {
  TfLiteDelegate delegate = {};
  std::map<std::string, std::string> options;

  void Log(const std::string& line) const {
    const auto found = options.find("log");
    if (found != options.end()) std::ofstream(found->second, std::ios::app) << line << '\n';
  }
  void Hold() const {
    const auto found = options.find("hold");
    if (found == options.end()) return;
    const std::string held = found->second + ".held";
    std::error_code absent;
    std::filesystem::rename(found->second, held, absent);
    while (!absent && std::filesystem::exists(held)) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  float wrong() const {
    const auto found = options.find("wrong");
    return found == options.end() ? 0 : std::strtof(found->second.c_str(), nullptr);
  }
};

struct Kernel {
  const State* state;
  int n_nodes;
};

// The library's structure has grown since the headers at hand: it is passed by value, so there must be zeros behind it.
struct Registration {
  TfLiteRegistration known;
  void* unknown[16];
};

constexpr int kAdd = 0;

void* Init(TfLiteContext*, const char* buffer, size_t) {
  const auto* params = reinterpret_cast<const TfLiteDelegateParams*>(buffer);
  const auto* state = static_cast<const State*>(params->delegate->data_);
  state->Log("nodes " + std::to_string(params->nodes_to_replace->size));
  return new Kernel{state, params->nodes_to_replace->size};
}

void Free(TfLiteContext*, void* data) { delete static_cast<Kernel*>(data); }

TfLiteStatus Prepare(TfLiteContext* context, TfLiteNode* node) {
  const TfLiteTensor& input = context->tensors[node->inputs->data[0]];
  return context->ResizeTensor(context, &context->tensors[node->outputs->data[0]], TfLiteIntArrayCopy(input.dims));
}

// One node each: which is what the tests' models have.
TfLiteStatus Invoke(TfLiteContext* context, TfLiteNode* node) {
  const auto* kernel = static_cast<const Kernel*>(node->user_data);
  if (kernel->n_nodes != 1 || node->inputs->size != 2) return kTfLiteError;
  const TfLiteTensor& a = context->tensors[node->inputs->data[0]];
  const TfLiteTensor& b = context->tensors[node->inputs->data[1]];
  TfLiteTensor& sum = context->tensors[node->outputs->data[0]];
  for (size_t i = 0; i < sum.bytes / sizeof(float); ++i) {
    sum.data.f[i] = a.data.f[i] + b.data.f[i] + kernel->state->wrong();
  }
  kernel->state->Log("threads " + std::to_string(context->recommended_num_threads));
  kernel->state->Hold();
  kernel->state->Log("add");
  return kTfLiteOk;
}

TfLiteStatus PrepareDelegate(TfLiteContext* context, TfLiteDelegate* delegate) {
  TfLiteIntArray* plan = nullptr;
  if (context->GetExecutionPlan(context, &plan) != kTfLiteOk) return kTfLiteError;
  TfLiteIntArray* taken = TfLiteIntArrayCreate(plan->size);
  taken->size = 0;
  for (int i = 0; i < plan->size; ++i) {
    TfLiteNode* node = nullptr;
    TfLiteRegistration* registration = nullptr;
    if (context->GetNodeAndRegistration(context, plan->data[i], &node, &registration) != kTfLiteOk) continue;
    if (registration->builtin_code != kAdd || node->inputs->size != 2) continue;
    const TfLiteTensor& a = context->tensors[node->inputs->data[0]];
    const TfLiteTensor& b = context->tensors[node->inputs->data[1]];
    if (a.type != kTfLiteFloat32 || b.type != kTfLiteFloat32 || TfLiteIntArrayEqual(a.dims, b.dims) == 0) continue;
    taken->data[taken->size++] = plan->data[i];
  }
  Registration kernel = {};
  kernel.known.init = Init;
  kernel.known.free = Free;
  kernel.known.prepare = Prepare;
  kernel.known.invoke = Invoke;
  kernel.known.custom_name = "TestAdd";
  kernel.known.version = 1;
  using Replace = TfLiteStatus (*)(TfLiteContext*, Registration, const TfLiteIntArray*, TfLiteDelegate*);
  const auto replace =  // NOLINTNEXTLINE(bugprone-casting-through-void): between types of functions
      reinterpret_cast<Replace>(reinterpret_cast<void*>(context->ReplaceNodeSubsetsWithDelegateKernels));
  const TfLiteStatus status = replace(context, kernel, taken, delegate);
  TfLiteIntArrayFree(taken);
  return status;
}

}  // namespace

extern "C" {

// The two helpers that a real delegate gets by linking a part of TensorFlow Lite.
TfLiteIntArray* TfLiteIntArrayCreate(int size) {
  auto* array =
      static_cast<TfLiteIntArray*>(std::malloc(sizeof(TfLiteIntArray) + sizeof(int) * static_cast<size_t>(size)));
  array->size = size;
  return array;
}
TfLiteIntArray* TfLiteIntArrayCopy(const TfLiteIntArray* from) {
  TfLiteIntArray* array = TfLiteIntArrayCreate(from->size);
  for (int i = 0; i < from->size; ++i) array->data[i] = from->data[i];
  return array;
}
int TfLiteIntArrayEqual(const TfLiteIntArray* a, const TfLiteIntArray* b) {
  if (a->size != b->size) return 0;
  for (int i = 0; i < a->size; ++i) {
    if (a->data[i] != b->data[i]) return 0;
  }
  return 1;
}
void TfLiteIntArrayFree(TfLiteIntArray* array) { std::free(array); }

__attribute__((visibility("default"))) TfLiteDelegate* tflite_plugin_create_delegate(
    const char* const* keys, const char* const* values, size_t n, void (*report_error)(const char*)) {
  auto* state = new State;
  for (size_t i = 0; i < n; ++i) state->options[keys[i]] = values[i];
  if (state->options.contains("fail")) {
    report_error(state->options["fail"].c_str());
    delete state;
    return nullptr;
  }
  if (state->options.contains("absent") && std::filesystem::exists(state->options["absent"])) {
    delete state;
    return nullptr;
  }
  for (const auto& [key, value] : state->options) state->Log("option " + key + "=" + value);
  state->delegate.data_ = state;
  state->delegate.Prepare = PrepareDelegate;
  state->delegate.flags = kTfLiteDelegateFlagsNone;
  return &state->delegate;
}

__attribute__((visibility("default"))) void tflite_plugin_destroy_delegate(TfLiteDelegate* delegate) {
  auto* state = static_cast<State*>(delegate->data_);
  state->Log("destroyed");
  delete state;
}
}
