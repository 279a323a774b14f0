#include "llama/common_library.h"

#include <dlfcn.h>

#include <filesystem>

#include "common/large_stack.h"
#include "common/library.h"
#include "common/throw.h"

namespace wasinn::llama {

using backend::Error;
using backend::Throw;

namespace {

// Analysing and rendering a chat of a hundred messages takes about ten thousand blocks and a few MiB.
constexpr CallLimits kLimits = {
    .bytes = 64 << 20, .steps = 256 << 20, .stack = size_t{256} << 20, .stack_of_call = size_t{8} << 20};

// A schema of 64 KiB takes a hundredth of this.
constexpr CallLimits kSchemaLimits = {
    .bytes = kLimits.bytes, .steps = 64 << 20, .stack = kLimits.stack, .stack_of_call = kLimits.stack_of_call};

// The nesting of a grammar: the parser recurses for each parenthesis.
constexpr CallLimits kGrammarLimits = {
    .bytes = 32 << 20, .steps = 64 << 20, .stack = kLimits.stack, .stack_of_call = size_t{64} << 20};

// The work for one token, or for all candidates of the next one: about 50 ms. 256,000 tokens under a grammar of JSON
// take a tenth of it.
constexpr CallLimits kTokenLimits = {
    .bytes = kGrammarLimits.bytes, .steps = 32 << 20, .stack_of_call = size_t{512} << 10, .here = true};

}  // namespace

CommonLibrary::CommonLibrary(const std::string& library)
    : path_((std::filesystem::path(library).parent_path() / "libwasinn_llama_common.so").string()) {
  backend::CheckDependencies(path_);
  // Never closed, like the frameworks' libraries.
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
  find("wasinn_llama_matcher_new", &matcher_new_);
  find("wasinn_llama_matcher_check", &matcher_check_);
  find("wasinn_llama_matcher_accept", &matcher_accept_);
  find("wasinn_llama_matcher_free", &matcher_free_);
}

std::string CommonLibrary::Run(const char* what, const CallBounds& bounds, const CallLimits& limits,
                               const Function& run) const {
  if (matcher_free_ == nullptr) {  // missing, or from an older build
    Throw(WASINN_ERROR_UNSUPPORTED_OPERATION, "{}: {} was not found; scripts/deps.sh llama installs it", what, path_);
  }
  return RunLibraryCall(what, bounds, limits, run);
}

std::string CommonLibrary::GrammarOf(const std::string& schema, const CallBounds& bounds) const {
  return Run("json-schema", bounds, kSchemaLimits,
             [&](wasinn_llama_call* call) { return grammar_(schema.c_str(), call); });
}

CommonLibrary::Matcher CommonLibrary::NewMatcher(const wasinn_llama_vocabulary& vocabulary, const std::string& grammar,
                                                 const CallBounds& bounds) const {
  Matcher matcher(nullptr, {this});
  Run("grammar", bounds, kGrammarLimits, [&](wasinn_llama_call* call) {
    wasinn_llama_matcher* made = nullptr;
    const int status = matcher_new_(&vocabulary, grammar.c_str(), call, &made);
    matcher.reset(made);
    return status;
  });
  return matcher;
}

void CommonLibrary::Check(const wasinn_llama_matcher* matcher, std::span<const int32_t> tokens, uint8_t* allowed,
                          const CallBounds& bounds) const {
  Run("grammar", bounds, kTokenLimits,
      [&](wasinn_llama_call* call) { return matcher_check_(matcher, tokens.data(), tokens.size(), allowed, call); });
}

bool CommonLibrary::Accept(wasinn_llama_matcher* matcher, int32_t token, std::string_view piece,
                           const CallBounds& bounds) const {
  try {
    Run("grammar", bounds, kTokenLimits, [&](wasinn_llama_call* call) {
      return matcher_accept_(matcher, token, piece.empty() ? nullptr : piece.data(), piece.size(), call);
    });
  } catch (const NotTaken& error) {
    if (error.code() == WASINN_ERROR_INVALID_ARGUMENT) return false;
    throw;
  }
  return true;
}

CommonLibrary::Templates CommonLibrary::NewTemplates(const wasinn_llama_model& model, const CallBounds& bounds) const {
  Templates templates(nullptr, {this});
  Run("chat", bounds, kLimits, [&](wasinn_llama_call* call) {
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
  *text = Run("chat", bounds, kLimits, [&](wasinn_llama_call* call) {
    wasinn_llama_chat* made = nullptr;
    const int status = chat_new_(templates, request.c_str(), call, &made);
    chat.reset(made);
    return status;
  });
  return chat;
}

std::string CommonLibrary::MessageOf(const wasinn_llama_chat* chat, const std::string& generated, bool partial,
                                     const CallBounds& bounds) const {
  return Run("chat", bounds, kLimits, [&](wasinn_llama_call* call) {
    return chat_message_(chat, generated.data(), generated.size(), partial ? 1 : 0, call);
  });
}

namespace {

// Destroys objects that may be deep on a stack of their own; without memory for the stack they leak.
template <typename Function>
void FreeOnLargeStack(const Function& free) {
  try {
    backend::RunOnLargeStack(kLimits.stack, free);
  } catch (const Error&) {  // NOLINT(bugprone-empty-catch): they leak
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
