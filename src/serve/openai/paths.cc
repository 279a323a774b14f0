#include "serve/openai/paths.h"

#include <algorithm>
#include <array>
#include <boost/url/parse.hpp>
#include <boost/url/url_view.hpp>
#include <utility>

namespace wasinn::serve::openai {
namespace {

struct Path {
  std::string_view at_root, behind_v1;
};
// /completions is OpenAI's under /v1 alone.
constexpr std::array<Path, 12> kAtRoot = {{{"/completion", "/completion"},
                                           {"/completions", "/completion"},
                                           {"/chat/completions", "/chat/completions"},
                                           {"/chat/completions/input_tokens", "/chat/completions/input_tokens"},
                                           {"/responses", "/responses"},
                                           {"/responses/input_tokens", "/responses/input_tokens"},
                                           {"/rerank", "/rerank"},
                                           {"/reranking", "/rerank"},
                                           {"/models", "/models"},
                                           {"/tokenize", "/tokenize"},
                                           {"/detokenize", "/detokenize"},
                                           {"/apply-template", "/apply-template"}}};

constexpr std::string_view kPrefix = "/v1";

// As it would be under /v1; "": none of ours.
std::string_view BehindPrefix(std::string_view target) {
  const std::string_view path = target.substr(0, target.find('?'));
  if (path == kPrefix) return "/";
  if (path.starts_with("/v1/")) return target.substr(kPrefix.size());
  const auto found = std::ranges::find(kAtRoot, path, &Path::at_root);
  return found == kAtRoot.end() ? std::string_view() : found->behind_v1;
}

}  // namespace

bool IsOurs(std::string_view target) { return !BehindPrefix(target).empty(); }

std::optional<std::vector<std::string>> WordsBehind(std::string_view target) {
  const auto url = boost::urls::parse_origin_form(BehindPrefix(target));
  if (!url) return std::nullopt;
  std::vector<std::string> words;
  for (const auto segment : url->segments()) {
    if (std::string word = segment; !word.empty()) words.push_back(std::move(word));
  }
  return words;
}

}  // namespace wasinn::serve::openai
