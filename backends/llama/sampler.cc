#include "llama/sampler.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>

#include "common/throw.h"
#include "llama/logit_biases.h"
#include "llama/model.h"
#include "llama/prompt.h"

namespace wasinn::llama {

using backend::Throw;

namespace {

constexpr size_t kLeastKept = 1;
constexpr size_t kLongestConverted = 1 << 20;

}  // namespace

Sampler::Sampler(const Model& model, const Settings& settings, const ChatForm* form, const std::atomic<bool>& cancelled,
                 void* account)
    : model_(model),
      library_(model.host().library()),
      reservation_(model.host().services(), account),
      chain_(library_.sampler_chain_init(library_.sampler_chain_default_params()), {&library_}),
      cancelled_(cancelled),
      may_go_without_(form != nullptr && !form->grammar.empty() && form->lazy),
      keeps_logits_(settings.sampling.probabilities.has_value()),
      is_greedy_(settings.temperature <= 0) {
  if (may_go_without_) watch_.emplace(*form);
  if (const std::string text = GrammarText(settings, form); !text.empty()) {
    grammar_.emplace(model_, text, cancelled_, account);
    if (form != nullptr && !form->grammar.empty() && !form->lazy) BeginGrammar(form->generation_prompt);
  }
  AddTo(chain_.get(), settings);
  const size_t kept = (keeps_logits_ ? 1 : 0) + (grammar_ ? 1 : 0);
  reservation_.Resize(model.vocabulary_size() * (sizeof(llama_token_data) + kept * sizeof(float)));
  candidates_.resize(model.vocabulary_size());
}

void Sampler::AddTo(llama_sampler* chain, const Settings& settings) const {
  const SamplingSettings& more = settings.sampling;
  const auto add = [&](llama_sampler* sampler) { library_.sampler_chain_add(chain, sampler); };
  const auto single = [](double number) { return static_cast<float>(number); };
  const uint32_t seed = settings.seed < 0 ? LLAMA_DEFAULT_SEED : static_cast<uint32_t>(settings.seed);
  const auto vocabulary = static_cast<int32_t>(model_.vocabulary_size());
  if (const auto biases = BiasesByToken(model_, more); !biases.empty()) {
    add(library_.sampler_init_logit_bias(vocabulary, static_cast<int32_t>(biases.size()), biases.data()));
  }
  if (more.mirostat > 0 && settings.temperature > 0) {
    constexpr int32_t kUsual = 100;
    add(library_.sampler_init_temp(single(settings.temperature)));
    return add(more.mirostat == 1 ? library_.sampler_init_mirostat(vocabulary, seed, single(more.mirostat_entropy),
                                                                   single(more.mirostat_rate), kUsual)
                                  : library_.sampler_init_mirostat_v2(seed, single(more.mirostat_entropy),
                                                                      single(more.mirostat_rate)));
  }
  const auto whole = static_cast<int32_t>(settings.context);
  const int32_t looked_at = settings.repeat_tokens < 0 ? whole : std::min(settings.repeat_tokens, whole);
  add(library_.sampler_init_penalties(vocabulary, looked_at, single(settings.repeat_penalty),
                                      single(settings.frequency_penalty), single(settings.presence_penalty)));
  if (more.dry_multiplier > 0) add(Dry(more));
  if (settings.temperature <= 0) return add(library_.sampler_init_greedy());
  add(library_.sampler_init_top_k(settings.top_k));
  add(library_.sampler_init_typical(single(settings.typical_p), kLeastKept));
  add(library_.sampler_init_top_p(single(settings.top_p), kLeastKept));
  add(library_.sampler_init_min_p(single(settings.min_p), kLeastKept));
  if (more.xtc_probability > 0) {
    add(library_.sampler_init_xtc(single(more.xtc_probability), single(more.xtc_threshold), kLeastKept, seed));
  }
  add(library_.sampler_init_temp(single(settings.temperature)));
  add(library_.sampler_init_dist(seed));
}

llama_sampler* Sampler::Dry(const SamplingSettings& settings) const {
  std::vector<const char*> breakers;
  breakers.reserve(settings.dry_breakers.size());
  for (const std::string& text : settings.dry_breakers) breakers.push_back(text.c_str());
  return library_.sampler_init_dry(model_.vocabulary(), static_cast<float>(settings.dry_multiplier),
                                   static_cast<float>(settings.dry_base), settings.dry_allowed_length,
                                   settings.dry_penalty_tokens, breakers.data(), breakers.size());
}

std::string Sampler::GrammarText(const Settings& settings, const ChatForm* form) {
  if (!settings.grammar.empty() && !settings.json_schema.empty()) {
    Throw(WASINN_ERROR_INVALID_ARGUMENT, "grammar and json-schema: expected at most one of them");
  }
  if (form != nullptr && !form->grammar.empty()) return form->grammar;
  if (settings.json_schema.empty()) return settings.grammar;
  std::string grammar =
      model_.host().common().GrammarOf(settings.json_schema, {.cancelled = &cancelled_, .reservation = &reservation_});
  if (grammar.size() <= kLongestConverted) return grammar;
  Throw(WASINN_ERROR_TOO_LARGE, "json-schema: becomes a grammar of {} bytes: no more than {} are allowed",
        grammar.size(), kLongestConverted);
}

// The grammar of an answer includes its beginning, which the template wrote into the prompt.
void Sampler::BeginGrammar(const std::string& generation_prompt) {
  const std::vector<llama_token> tokens = TokenizeSpecial(model_, generation_prompt);
  const auto is_space = [](const std::string& text) { return text.starts_with(' ') || text.starts_with('\n'); };
  for (size_t i = 0; i < tokens.size(); ++i) {
    // Some tokenizers put a space before the first token.
    if (i == 0 && is_space(PieceOf(model_, tokens[i], kWithSpecial)) && !is_space(generation_prompt)) continue;
    if (library_.vocab_is_eog(model_.vocabulary(), tokens[i]) || !grammar_->Accept(tokens[i])) {
      Throw(WASINN_ERROR_RUNTIME, "chat: the template's answers do not begin like its grammar");
    }
  }
}

void Sampler::Fill(const float* logits) {
  for (size_t i = 0; i < candidates_.size(); ++i) candidates_[i] = {static_cast<llama_token>(i), logits[i], 0};
  array_ = {.data = candidates_.data(), .size = candidates_.size(), .selected = -1, .sorted = false};
}

llama_token Sampler::ChooseAny() {
  library_.sampler_apply(chain_.get(), &array_);
  if (array_.selected < 0 || static_cast<size_t>(array_.selected) >= array_.size) {
    Throw(WASINN_ERROR_RUNTIME, "llama.cpp chose no token");
  }
  const llama_token_data chosen = array_.data[array_.selected];
  if (chosen.logit == -INFINITY) {
    Throw(WASINN_ERROR_INVALID_ARGUMENT, "no token may be chosen: the grammar, logit-bias and ignore-eos exclude all");
  }
  if (is_greedy_ && keeps_logits_) {  // no other could have been chosen
    candidates_[0] = chosen;
    array_ = {.data = candidates_.data(), .size = 1, .selected = 0, .sorted = true};
  }
  return chosen.id;
}

// Text after a trigger in the same token was chosen without the grammar. If it is not a call, it is text, and the model
// continues freely.
void Sampler::Watch(llama_token token) {
  if (!watch_->Add(token, PieceOf(model_, token, kWithSpecial))) return;
  for (const TriggerWatch::Part& part : watch_->begun()) {
    if (grammar_->Accept(part.token, part.text)) continue;
    grammar_.reset();
    break;
  }
  watch_.reset();
}

// Returns the token, or one that the grammar allows.
llama_token Sampler::ChooseWithGrammar(llama_token token) {
  llama_token chosen = token;
  bool goes_on = grammar_->Allows(token);
  if (!goes_on) {
    Fill(logits_.data());
    grammar_->Restrict(candidates_);
    goes_on = std::ranges::any_of(candidates_, [](const llama_token_data& one) { return !std::isinf(one.logit); });
    if (goes_on) chosen = ChooseAny();
  }
  // llama.cpp allows some tokens that end within a rule of tokens, but then does not accept them.
  if (goes_on && grammar_->Accept(chosen)) return chosen;
  if (!may_go_without_) Throw(WASINN_ERROR_INVALID_ARGUMENT, "grammar: no token of the model can follow");
  grammar_.reset();
  return token;
}

void Sampler::Take(const float* logits) {
  if (logits == nullptr) Throw(WASINN_ERROR_RUNTIME, "llama.cpp computed no logits");
  if (keeps_logits_ || (grammar_ && !watch_)) logits_.assign(logits, logits + candidates_.size());
  Fill(logits);
}

llama_token Sampler::Choose() {
  // Samplers sort, which fails with NaN.
  if (model_.of_guest() &&
      !std::ranges::all_of(candidates_, [](const llama_token_data& one) { return std::isfinite(one.logit); })) {
    Throw(WASINN_ERROR_RUNTIME, "the model computes a value that is not a number");
  }
  llama_token token = ChooseAny();
  if (watch_) {
    Watch(token);
  } else if (grammar_) {
    token = ChooseWithGrammar(token);
  }
  library_.sampler_accept(chain_.get(), token);
  return token;
}

}  // namespace wasinn::llama
