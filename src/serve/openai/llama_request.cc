#include "serve/openai/llama_request.h"

#include <fmt/format.h>

#include <algorithm>

#include "serve/openai/common_request.h"
#include "serve/openai/form_of_text.h"
#include "serve/openai/sampling.h"

namespace wasinn::serve::openai {
namespace {

using simdjson::dom::element;

constexpr size_t kMostMembers = 64, kLongestMember = 256;

std::vector<std::string> ReadMembers(Fields& fields) {
  const auto given = fields.Find("response_fields");
  if (!given) return {};
  std::vector<std::string> members;
  bool is_good = given->is_array() && given->get_array().size() <= kMostMembers;
  for (size_t i = 0; is_good && i < given->get_array().size(); ++i) {
    const element one = given->get_array().at(i);
    is_good = one.is_string() && one.get_string_length() <= kLongestMember;
    if (is_good) members.emplace_back(static_cast<std::string_view>(one));
  }
  if (is_good) return members;
  ThrowWrong("response_fields", fmt::format("response_fields is not a list of up to {} strings of up to {} bytes",
                                            kMostMembers, kLongestMember));
}

// Whether members of the answer come from the report.
bool NeedsReport(const std::vector<std::string>& members) {
  const auto is_of_it = [](const std::string& path) {
    return path == "prompt" || path.starts_with("generation_settings");
  };
  return members.empty() || std::ranges::any_of(members, is_of_it);
}

void ReadProbabilities(Fields& fields, TextRequest& request, Options& options) {
  for (const std::string_view name : {"logprobs", "n_probs"}) {  // if both are set, the second counts
    if (const auto n = fields.Integer(name, 0, kMostTop)) request.n_top = static_cast<unsigned>(*n);
  }
  if (request.n_top == 0u) request.n_top.reset();
  AddTop(request.n_top, options);
  if (fields.Flag("post_sampling_probs").value_or(false)) options.Add("post-sampling-probs", "true");
}

}  // namespace

TextRequest ReadLlamaCompletion(element body) {
  Fields fields(body);
  TextRequest request = ReadCommon(fields, {"n", "n_cmpl"});
  Options options;
  ReadPrompts(fields, request.prompts, options);
  ReadSampling(fields, options, kWideLimits);
  ReadMostTokens(fields, kNamesOfMostTokens, options);
  ReadResponseFormat(fields, options);
  ReadProbabilities(fields, request, options);
  request.wants_tokens = fields.Flag("return_tokens").value_or(false);
  request.members = ReadMembers(fields);
  request.wants_report = NeedsReport(request.members);
  fields.Refuse({"echo", "suffix"});
  fields.CheckAllRead();
  TakeOptions(options, request);
  return request;
}

}  // namespace wasinn::serve::openai
