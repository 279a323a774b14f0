#include "serve/openai/paths.h"

#include <algorithm>
#include <array>

#include "serve/http/target.h"

namespace wasinn::serve::openai {
namespace {

struct Path {
  std::string_view at_root, behind_v1;
};
// /completions is OpenAI's, and only under /v1.
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

}  // namespace

bool IsOurs(std::string_view target) { return PathAlone(target) == kPrefix || target.starts_with("/v1/"); }

std::optional<std::string> UnderV1(std::string_view target) {
  const std::string_view path = PathAlone(target);
  const auto found = std::ranges::find(kAtRoot, path, &Path::at_root);
  if (found == kAtRoot.end()) return std::nullopt;
  return std::string(kPrefix).append(found->behind_v1).append(target.substr(path.size()));
}

std::vector<std::string> WordsBehind(std::string_view target) {
  if (!IsOurs(target)) return {};
  std::vector<std::string> words = PathWords(target);
  words.erase(words.begin());
  return words;
}

}  // namespace wasinn::serve::openai
