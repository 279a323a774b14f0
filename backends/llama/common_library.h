// llama.cpp's code for chats and JSON schemas.
#pragma once

#include <wasinn_llama_common.h>

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "llama/library_call.h"

namespace wasinn::llama {

// A library next to llama.cpp's (scripts/deps/llama). Thread-safe.
class CommonLibrary {
 public:
  // `library`: the path of llama.cpp's library.
  explicit CommonLibrary(const std::string& library);

  // False: a llama.cpp from another source does not include it.
  bool found() const { return grammar_ != nullptr; }

  struct FreeTemplates {
    const CommonLibrary* library;
    void operator()(wasinn_llama_templates* templates) const;
  };
  using Templates = std::unique_ptr<wasinn_llama_templates, FreeTemplates>;
  struct FreeChat {
    const CommonLibrary* library;
    void operator()(wasinn_llama_chat* chat) const;
  };
  using Chat = std::unique_ptr<wasinn_llama_chat, FreeChat>;

  struct FreeMatcher {
    const CommonLibrary* library;
    void operator()(wasinn_llama_matcher* matcher) const { library->matcher_free_(matcher); }
  };
  using Matcher = std::unique_ptr<wasinn_llama_matcher, FreeMatcher>;

  // These functions throw like RunLibraryCall, and WASINN_ERROR_UNSUPPORTED_OPERATION if the library is missing.

  // The grammar of a schema that is not deep.
  std::string GrammarOf(const std::string& schema, const CallBounds& bounds) const;

  Matcher NewMatcher(const wasinn_llama_vocabulary& vocabulary, const std::string& grammar,
                     const CallBounds& bounds) const;
  // Whether each of these tokens may be next: 1 or 0.
  void Check(const wasinn_llama_matcher* matcher, std::span<const int32_t> tokens, uint8_t* allowed,
             const CallBounds& bounds) const;
  // `piece`: the accepted part of the token; empty: all of it. False: not allowed.
  bool Accept(wasinn_llama_matcher* matcher, int32_t token, std::string_view piece, const CallBounds& bounds) const;

  Templates NewTemplates(const wasinn_llama_model& model, const CallBounds& bounds) const;
  // `text`: the result of the function of that name.
  Chat NewChat(const wasinn_llama_templates* templates, const std::string& request, const CallBounds& bounds,
               std::string* text) const;
  std::string MessageOf(const wasinn_llama_chat* chat, const std::string& generated, bool partial,
                        const CallBounds& bounds) const;

 private:
  using Function = std::function<int(wasinn_llama_call*)>;
  std::string Run(const char* what, const CallBounds& bounds, const CallLimits& limits, const Function& run) const;

  std::string path_;
  decltype(&wasinn_llama_grammar) grammar_ = nullptr;  // NULL: the library is missing
  decltype(&wasinn_llama_templates_new) templates_new_ = nullptr;
  decltype(&wasinn_llama_templates_free) templates_free_ = nullptr;
  decltype(&wasinn_llama_chat_new) chat_new_ = nullptr;
  decltype(&wasinn_llama_chat_message) chat_message_ = nullptr;
  decltype(&wasinn_llama_chat_free) chat_free_ = nullptr;
  decltype(&wasinn_llama_matcher_new) matcher_new_ = nullptr;
  decltype(&wasinn_llama_matcher_check) matcher_check_ = nullptr;
  decltype(&wasinn_llama_matcher_accept) matcher_accept_ = nullptr;
  decltype(&wasinn_llama_matcher_free) matcher_free_ = nullptr;
};

}  // namespace wasinn::llama
