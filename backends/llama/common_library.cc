#include "llama/common_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <filesystem>

#include "common/dependencies.h"
#include "common/error.h"
#include "common/large_stack.h"

namespace wasinn::llama {

using backend::Error;

namespace {

// A chat of a hundred messages takes some ten thousand blocks and a few MiB, its template analysed and rendered.
constexpr CallLimits kLimits = {
    .bytes = 64 << 20, .blocks = 16 << 20, .stack = size_t{256} << 20, .stack_of_call = size_t{8} << 20};

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
  return RunLibraryCall(what, bounds, kLimits, run);
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
    backend::RunOnLargeStack(kLimits.stack, free);
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
