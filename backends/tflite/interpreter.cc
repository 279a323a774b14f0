#include "tflite/interpreter.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>
#include <set>
#include <string_view>
#include <utility>

#include "common/config.h"
#include "common/error.h"
#include "common/model_bytes.h"

namespace wasinn::tflite {

using backend::Error;

// Finds out which delegate has taken a part of a model: a delegate that takes nothing itself, and looks when it is
// asked. It stays where it is until its interpreter is destroyed.
class Observer {
 public:
  Observer() {
    delegate_.known.data_ = this;
    delegate_.known.Prepare = Look;
    delegate_.known.flags = kTfLiteDelegateFlagsAllowDynamicTensors;
  }
  Observer(const Observer&) = delete;
  Observer& operator=(const Observer&) = delete;

  TfLiteDelegate* get() { return &delegate_.known; }
  // Whether an earlier delegate has taken anything; NULL: whether they left anything.
  bool Saw(const TfLiteDelegate* delegate) const { return seen_.contains(delegate); }

 private:
  // Called for each subgraph.
  static TfLiteStatus Look(TfLiteContext* context, TfLiteDelegate* self) {
    auto& seen = static_cast<Observer*>(self->data_)->seen_;
    TfLiteIntArray* plan = nullptr;
    if (context->GetExecutionPlan(context, &plan) != kTfLiteOk) return kTfLiteOk;
    for (int i = 0; i < plan->size; ++i) {
      TfLiteNode* node = nullptr;
      TfLiteRegistration* registration = nullptr;
      if (context->GetNodeAndRegistration(context, plan->data[i], &node, &registration) != kTfLiteOk) continue;
      seen.insert(node->delegate);
    }
    return kTfLiteOk;
  }

  // The library's structure is larger than in the headers at hand: zeros must follow it.
  struct {
    TfLiteDelegate known;
    void* unknown[16];
  } delegate_ = {};
  std::set<const TfLiteDelegate*> seen_;
};

namespace {

// Whether TensorFlow Lite's message, with the file's version, is about a newer file. It reads no older schema, either.
bool IsTooNew(std::string_view words) {
  if (const size_t at = words.find("schema version "); at != words.npos) {
    int found = 0, read = 0;
    const std::string from(words.substr(at));
    std::sscanf(from.c_str(), "schema version %d not equal to supported version %d", &found, &read);
    return found > read && read > 0;
  }
  return words.contains("An older version of this builtin might be supported") ||
         words.contains("Are you using old TFLite binary with newer model");
}

}  // namespace

void Messages::Report(void* self, const char* format, va_list args) {
  constexpr size_t kMax = 4096;
  std::array<char, 1024> line = {};
  if (std::vsnprintf(line.data(), line.size(), format, args) < 0) return;
  auto* messages = static_cast<Messages*>(self);
  const std::lock_guard lock(messages->mutex_);
  if (messages->text_.size() > kMax) return;
  if (!messages->text_.empty()) messages->text_ += "; ";
  messages->text_ += line.data();
}

std::string Messages::Take() {
  std::string text;
  {
    const std::lock_guard lock(mutex_);
    text = std::exchange(text_, {});
  }
  std::ranges::replace(text, '\n', ' ');
  while (text.ends_with(' ')) text.pop_back();
  return text.empty() ? "TensorFlow Lite does not say why" : text;
}

std::string Interpreter::TakeMessages() const {
  std::string words = messages_.Take();
  if (words.contains("unresolved custom op")) {
    return words + ". " + backend::kOpLibrariesAdvice;
  }
  if (!IsTooNew(words)) return words;
  return backend::TooNew(std::move(words), "TensorFlow Lite", library_.version(),
                         "convert the model again with an older TensorFlow");
}

Interpreter::Interpreter(const TfLiteLibrary& library, const TfLiteModel* model, const InterpreterOptions& options)
    : library_(library), threads_(options.threads) {
  const std::unique_ptr<TfLiteInterpreterOptions, decltype(&TfLiteInterpreterOptionsDelete)> raw(
      library.options_create(), library.options_delete);
  library.options_set_num_threads(raw.get(), options.threads);
  library.options_set_error_reporter(raw.get(), Messages::Report, &messages_);
  if (library.enable_cancellation != nullptr) library.enable_cancellation(raw.get(), true);
  std::string names;
  for (const DelegateLibrary& delegate : options.delegates) {
    delegates_.push_back(delegate.NewDelegate());
    names += fmt::format(" with delegate '{}'", delegate.name());
  }
  for (const DelegatePtr& delegate : delegates_) library.options_add_delegate(raw.get(), delegate.get());
  if (!delegates_.empty()) {
    observer_ = std::make_unique<Observer>();
    library.options_add_delegate(raw.get(), observer_->get());
  }
  if (options.xnnpack != nullptr) {
    delegates_.push_back(options.xnnpack->NewDelegate(options.threads));
    library.options_add_delegate(raw.get(), delegates_.back().get());
  }
  for (const OpLibrary& operators : options.op_libraries) operators.AddTo(raw.get());
  if (options.more != nullptr) library.options_add_operator(raw.get(), options.more);
  interpreter_ = library.interpreter_create(model, raw.get());
  if (interpreter_ != nullptr) return;
  throw Error(options.delegates.empty() ? WASINN_ERROR_INVALID_ENCODING : WASINN_ERROR_UNSUPPORTED_OPERATION,
              fmt::format("making an interpreter{}: {}", names, TakeMessages()));
}

std::string Interpreter::Devices(std::span<const DelegateLibrary> delegates) const {
  if (observer_ == nullptr) return "cpu";
  std::string devices;
  const auto add = [&](const std::string& name) { devices += (devices.empty() ? "" : ",") + name; };
  for (size_t i = 0; i < delegates.size(); ++i) {
    if (observer_->Saw(delegates_[i].get())) add(delegates[i].name());
  }
  if (observer_->Saw(nullptr) || devices.empty()) add("cpu");
  return devices;
}

}  // namespace wasinn::tflite
