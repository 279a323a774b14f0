#include "llama/common_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <utility>

#include "common/dependencies.h"
#include "common/error.h"
#include "common/large_stack.h"
#include "llama/thread_stderr.h"

namespace wasinn::llama {

using backend::Error;

namespace {

using CString = std::unique_ptr<char, decltype(&std::free)>;

// A chat of a hundred messages takes some ten thousand blocks and a few MiB, its template analysed and rendered.
constexpr uint64_t kMostBytes = 64 << 20, kMostBlocks = 16 << 20;
// A call may use a part of the stack. The rest is for destructors of what it has nested without going deep itself, and
// for what calls itself without allocating: as deep as kMostBytes may be nested.
constexpr size_t kStack = size_t{256} << 20, kStackOfCall = size_t{8} << 20;

// A call under way, as its question `go_on` knows it.
struct Running {
  const CallBounds& bounds;
  const uint64_t before;  // bytes that were reserved
  std::optional<Error> refused;

  static int GoOn(void* user, uint64_t bytes) {
    auto* self = static_cast<Running*>(user);
    const CallBounds& bounds = self->bounds;
    if (bounds.gate != nullptr && bounds.gate->cancelled()) return 0;
    if (bounds.reservation == nullptr) return 1;
    try {
      bounds.reservation->Resize(self->before + bytes);
    } catch (Error& error) {
      self->refused = std::move(error);
      return 0;
    } catch (...) {  // nothing of ours goes through a library that has a C++ library of its own
      return 0;
    }
    return 1;
  }
};

}  // namespace

CommonLibrary::CommonLibrary(const std::string& library)
    : path_((std::filesystem::path(library).parent_path() / "libwasinn_llama_common.so").string()) {
  backend::CheckDependencies(path_);
  // Never closed, as the frameworks' libraries.
  void* handle = dlopen(path_.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return;
  const auto find = [handle](const char* name, auto* function) {
    *function = reinterpret_cast<std::remove_pointer_t<decltype(function)>>(dlsym(handle, name));
  };
  find("wasinn_llama_grammar", &grammar_);
  find("wasinn_llama_templates_new", &templates_new_);
  find("wasinn_llama_templates_free", &templates_free_);
  find("wasinn_llama_chat_new", &chat_new_);
  find("wasinn_llama_chat_message", &chat_message_);
  find("wasinn_llama_chat_free", &chat_free_);
}

std::string CommonLibrary::Run(const char* what, const CallBounds& bounds,
                               const std::function<int(wasinn_llama_call*)>& run) const {
  if (grammar_ == nullptr) {
    throw Error(WASINN_UNSUPPORTED_OPERATION,
                fmt::format("{}: {} was not found; scripts/deps.sh llama installs it", what, path_));
  }
  const uint64_t before = bounds.reservation == nullptr ? 0 : bounds.reservation->bytes();
  Running running = {.bounds = bounds, .before = before, .refused = std::nullopt};
  wasinn_llama_call call = {.most_bytes = kMostBytes,
                            .most_blocks = kMostBlocks,
                            .stack = kStackOfCall,
                            .go_on = Running::GoOn,
                            .user = &running,
                            .kept = 0,
                            .text = nullptr};
  int status = WASINN_LLAMA_OK;
  backend::RunOnLargeStack(kStack, [&] {
    const ThreadStderr printed;  // llama.cpp warns there of what it leaves out of a schema
    status = run(&call);
  });
  const CString text(call.text, std::free);
  if (bounds.reservation != nullptr) bounds.reservation->Resize(before + (status == WASINN_LLAMA_OK ? call.kept : 0));
  if (running.refused) throw *std::move(running.refused);
  if (status == WASINN_LLAMA_STOPPED) throw Error(WASINN_TIMEOUT, "the generation was cancelled");
  if (status != WASINN_LLAMA_OK || text == nullptr) {
    throw NotTaken(status == WASINN_LLAMA_WRONG ? WASINN_INVALID_ARGUMENT : WASINN_TOO_LARGE,
                   fmt::format("{}: {}", what, text == nullptr ? "out of memory" : text.get()));
  }
  return text.get();
}

std::string CommonLibrary::GrammarOf(const std::string& schema) const {
  return Run("json-schema", {}, [&](wasinn_llama_call* call) { return grammar_(schema.c_str(), call); });
}

CommonLibrary::Templates CommonLibrary::NewTemplates(const wasinn_llama_model& model, const CallBounds& bounds) const {
  Templates templates(nullptr, {this});
  Run("chat", bounds, [&](wasinn_llama_call* call) {
    wasinn_llama_templates* made = nullptr;
    const int status = templates_new_(&model, call, &made);
    templates.reset(made);
    return status;
  });
  return templates;
}

CommonLibrary::Chat CommonLibrary::NewChat(const wasinn_llama_templates* templates, const std::string& request,
                                           const CallBounds& bounds, std::string* text) const {
  Chat chat(nullptr, {this});
  *text = Run("chat", bounds, [&](wasinn_llama_call* call) {
    wasinn_llama_chat* made = nullptr;
    const int status = chat_new_(templates, request.c_str(), call, &made);
    chat.reset(made);
    return status;
  });
  return chat;
}

std::string CommonLibrary::MessageOf(const wasinn_llama_chat* chat, const std::string& generated, bool partial,
                                     const CallBounds& bounds) const {
  return Run("chat", bounds, [&](wasinn_llama_call* call) {
    return chat_message_(chat, generated.data(), generated.size(), partial ? 1 : 0, call);
  });
}

namespace {

// What may be deep. Where there is no memory for the stack it stays.
template <typename Function>
void FreeOnLargeStack(const Function& free) {
  try {
    backend::RunOnLargeStack(kStack, free);
  } catch (const Error&) {  // NOLINT(bugprone-empty-catch): it stays
  }
}

}  // namespace

void CommonLibrary::FreeTemplates::operator()(wasinn_llama_templates* templates) const {
  FreeOnLargeStack([&] { library->templates_free_(templates); });
}
void CommonLibrary::FreeChat::operator()(wasinn_llama_chat* chat) const {
  FreeOnLargeStack([&] { library->chat_free_(chat); });
}

}  // namespace wasinn::llama
