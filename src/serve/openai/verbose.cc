#include "serve/openai/verbose.h"

#include "serve/openai/llama_choice.h"

namespace wasinn::serve::openai {

using nlohmann::json;

namespace {

constexpr char kVerbose[] = "__verbose";

}  // namespace

Outcome<json> Verbose::Read(Completion& completion, const Ending& ending, bool is_stream) const {
  auto text = completion.Output("completion");
  if (!text) return std::unexpected(std::move(text.error()));
  const bool has_new_line = text->contains('\n');
  return ToJson(completion, ending,
                {.content = *std::move(text), .model = model_, .is_stream = is_stream, .has_new_line = has_new_line});
}

Outcome<void> Verbose::AddTo(json& chunk, Completion& completion, const Ending& ending) const {
  if (!is_wanted_) return {};
  auto read = Read(completion, ending, /*is_stream=*/true);
  if (!read) return std::unexpected(std::move(read.error()));
  chunk[kVerbose] = *std::move(read);
  return {};
}

Outcome<size_t> Verbose::Keep(Completion& completion, const Ending& ending) {
  if (!is_wanted_ || !kept_.is_null()) return 0;
  auto read = Read(completion, ending, /*is_stream=*/false);
  if (!read) return std::unexpected(std::move(read.error()));
  kept_ = *std::move(read);
  return Dump(kept_).size();
}

void Verbose::MoveTo(json& whole) {
  if (!kept_.is_null()) whole[kVerbose] = std::move(kept_);
}

}  // namespace wasinn::serve::openai
