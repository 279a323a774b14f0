#include "llama/sampler.h"

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <span>
#include <string>
#include <string_view>

#include "common/error.h"
#include "common/large_stack.h"
#include "llama/grammar_size.h"
#include "llama/log_scope.h"
#include "llama/logit_biases.h"
#include "llama/model.h"
#include "llama/prompt.h"
#include "llama/schema_size.h"
#include "llama/thread_stderr.h"

namespace wasinn::llama {

using backend::Error;

namespace {

constexpr size_t kLeastKept = 1, kLongestWords = 200;
// llama.cpp's parser of grammars calls itself for each parenthesis and for each rule.
constexpr size_t kGrammarStack = size_t{256} << 20;

// A large vocabulary under a usual grammar takes a tenth of it.
constexpr std::chrono::milliseconds kMostGrammarTime(250);
// Tokens that llama.cpp checks in one call, which nothing interrupts.
constexpr size_t kCheckedAtOnce = 256;
constexpr size_t kLongestConverted = 1 << 20;

// "parse: error parsing grammar: unexpected end of input\n\nroot ::= …": the first line, and of it what the guest does
// not know.
std::string ParserWords(const std::string& printed, const LogScope& scope) {
  constexpr std::string_view kBefore = "error parsing grammar: ";
  const std::string line = printed.substr(0, printed.find('\n'));
  const size_t at = line.find(kBefore);
  return at == std::string::npos ? scope.Errors("it has no rule named root")
                                 : line.substr(at + kBefore.size(), kLongestWords);
}

}  // namespace

Sampler::Sampler(const Model& model, const Settings& settings, const ChatForm* form, void* account)
    : model_(model),
      library_(model.host().library()),
      reservation_(model.host().services(), account),
      chain_(library_.sampler_chain_init(library_.sampler_chain_default_params()), {&library_}),
      grammar_text_(GrammarText(settings, form)),
      grammar_(nullptr, {&library_}),
      keeps_logits_(settings.sampling.probabilities.has_value()),
      is_greedy_(settings.temperature <= 0) {
  const bool of_form = form != nullptr && !form->grammar.empty();
  if (of_form && form->lazy) watch_.emplace(*form);
  if (!grammar_text_.empty()) grammar_ = MakeGrammar(grammar_text_);
  if (of_form && !form->lazy) BeginGrammar(form->generation_prompt);
  AddTo(chain_.get(), settings);
  const size_t kept = keeps_logits_ ? sizeof(float) : 0;
  reservation_.Resize(reservation_.bytes() + model.vocabulary_size() * (sizeof(llama_token_data) + kept));
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

std::string Sampler::ConvertSchema(const std::string& schema) const {
  CheckSchemaSizes("json-schema", {schema});
  std::string grammar = model_.host().common().GrammarOf(schema);
  if (grammar.size() <= kLongestConverted) return grammar;
  throw Error(WASINN_TOO_LARGE, fmt::format("json-schema: becomes a grammar of {} bytes: no more than {} are allowed",
                                            grammar.size(), kLongestConverted));
}

std::string Sampler::GrammarText(const Settings& settings, const ChatForm* form) const {
  if (!settings.grammar.empty() && !settings.json_schema.empty()) {
    throw Error(WASINN_INVALID_ARGUMENT, "grammar and json-schema: expected one of them");
  }
  if (form != nullptr && !form->grammar.empty()) return form->grammar;
  return settings.json_schema.empty() ? settings.grammar : ConvertSchema(settings.json_schema);
}

SamplerPtr Sampler::MakeGrammar(const std::string& text) {
  SamplerPtr grammar(nullptr, {&library_});
  backend::RunOnLargeStack(kGrammarStack, [&] {
    const GrammarSize size = MeasureGrammar(text);
    reservation_.Resize(size.bytes + model_.vocabulary_size() * sizeof(float));
    FindTooLong(size.longest_token);
    grammar = ParseGrammar(text);
  });
  return grammar;
}

SamplerPtr Sampler::ParseGrammar(const std::string& text) const {
  ThreadStderr printed;
  const LogScope scope(model_.host().log(), false);
  constexpr const char* kRoot = "root";
  SamplerPtr grammar(nullptr, {&library_});
  if (watch_) {
    std::vector<const char*> patterns = watch_->Patterns();
    grammar.reset(library_.sampler_init_grammar_lazy_patterns(model_.vocabulary(), text.c_str(), kRoot, patterns.data(),
                                                              patterns.size(), nullptr, 0));
  } else {
    grammar.reset(library_.sampler_init_grammar(model_.vocabulary(), text.c_str(), kRoot));
  }
  if (grammar != nullptr) return grammar;
  throw Error(WASINN_INVALID_ARGUMENT,
              fmt::format("grammar: cannot be parsed: {}", ParserWords(printed.Take(), scope)));
}

// The grammar of an answer is also that of its beginning, which the template has written into the prompt.
void Sampler::BeginGrammar(const std::string& generation_prompt) {
  const std::vector<llama_token> tokens = TokenizeSpecial(model_, generation_prompt);
  const auto is_space = [](const std::string& text) { return text.starts_with(' ') || text.starts_with('\n'); };
  for (size_t i = 0; i < tokens.size(); ++i) {
    // Some tokenizers put a space before the first one.
    if (i == 0 && is_space(PieceOf(model_, tokens[i], kWithSpecial)) && !is_space(generation_prompt)) continue;
    if (library_.vocab_is_eog(model_.vocabulary(), tokens[i]) || !Allows(tokens[i])) {
      throw Error(WASINN_RUNTIME_ERROR, "chat: the template's answers do not begin as its grammar says");
    }
    library_.sampler_accept(grammar_.get(), tokens[i]);
  }
}

// What they would take memory for is not known before it is taken. Shorter ones say the same.
void Sampler::FindTooLong(uint64_t longest) {
  if (model_.scan().longest_token <= longest) return;
  too_long_.resize(model_.vocabulary_size());
  std::string piece(longest, '\0');
  for (size_t i = 0; i < too_long_.size(); ++i) {
    const auto token = static_cast<llama_token>(i);
    constexpr bool kSpecial = true;
    too_long_[i] = !library_.vocab_is_eog(model_.vocabulary(), token) &&
                   library_.token_to_piece(model_.vocabulary(), token, piece.data(), static_cast<int32_t>(longest), 0,
                                           kSpecial) < 0;
  }
}

void Sampler::Fill(const float* logits) {
  for (size_t i = 0; i < candidates_.size(); ++i) candidates_[i] = {static_cast<llama_token>(i), logits[i], 0};
  array_ = {.data = candidates_.data(), .size = candidates_.size(), .selected = -1, .sorted = false};
}

llama_token Sampler::ChooseAny() {
  library_.sampler_apply(chain_.get(), &array_);
  if (array_.selected < 0 || static_cast<size_t>(array_.selected) >= array_.size) {
    throw Error(WASINN_RUNTIME_ERROR, "llama.cpp chose no token");
  }
  const llama_token_data chosen = array_.data[array_.selected];
  if (chosen.logit == -INFINITY) {
    throw Error(WASINN_INVALID_ARGUMENT, "no token may be chosen: the grammar, logit-bias and ignore-eos exclude all");
  }
  if (is_greedy_ && keeps_logits_) {  // no other could have been
    candidates_[0] = chosen;
    array_ = {.data = candidates_.data(), .size = 1, .selected = 0, .sorted = true};
  }
  return chosen.id;
}

bool Sampler::Allows(llama_token token) {
  if (!too_long_.empty() && too_long_[static_cast<size_t>(token)]) return false;
  llama_token_data one = {token, 1, 0};
  llama_token_data_array array = {.data = &one, .size = 1, .selected = -1, .sorted = false};
  library_.sampler_apply(grammar_.get(), &array);
  return !std::isinf(one.logit);
}

// What a grammar can go on with may grow with each token without end, and llama.cpp cannot be interrupted while it
// looks. So it looks at some tokens at a time, and those after one that took long are not asked for: no clock on the
// wall, since other work may hold this thread.
class Sampler::Patience {
 public:
  explicit Patience(const backend::CancelGate& gate) : gate_(gate) {}

  void Check() const {
    if (gate_.cancelled()) throw Error(WASINN_TIMEOUT, "the generation was cancelled");
    if (Now() - start_ < kMostGrammarTime) return;
    throw Error(WASINN_TOO_LARGE,
                fmt::format("grammar: a token took more than {} ms to check: it allows too much at once",
                            kMostGrammarTime.count()));
  }

 private:
  static std::chrono::milliseconds Now() {
    timespec now = {};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return std::chrono::milliseconds(now.tv_sec * 1000 + now.tv_nsec / 1000000);
  }
  const backend::CancelGate& gate_;
  const std::chrono::milliseconds start_ = Now();
};

void Sampler::Watch(llama_token token, const backend::CancelGate& gate) {
  if (!watch_ || !watch_->Add(token, PieceOf(model_, token, kWithSpecial))) return;
  const Patience patience(gate);
  if (watch_->has_lost_beginning()) {
    backend::RunOnLargeStack(kGrammarStack, [&] { grammar_ = ParseGrammar(grammar_text_); });
  }
  try {
    for (const llama_token one : watch_->tokens()) library_.sampler_accept(grammar_.get(), one);
  } catch (const std::exception&) {
    throw Error(WASINN_RUNTIME_ERROR, "chat: the model began to call a tool in another way than its template has it");
  }
  watch_.reset();
  patience.Check();
}

void Sampler::ApplyGrammar(const Patience& patience) {
  const auto end = std::partition(candidates_.begin(), candidates_.end(), [this](const llama_token_data& one) {
    return too_long_.empty() || !too_long_[static_cast<size_t>(one.id)];
  });
  for (auto left = std::span(candidates_.begin(), end); !left.empty();) {
    const auto now = left.first(std::min(kCheckedAtOnce, left.size()));
    llama_token_data_array some = {.data = now.data(), .size = now.size(), .selected = -1, .sorted = false};
    library_.sampler_apply(grammar_.get(), &some);
    patience.Check();
    left = left.subspan(now.size());
  }
  std::for_each(end, candidates_.end(), [](llama_token_data& one) { one.logit = -INFINITY; });
}

llama_token Sampler::ChooseWithGrammar(llama_token token, const backend::CancelGate& gate) {
  const Patience patience(gate);
  if (!Allows(token)) {
    patience.Check();
    Fill(logits_.data());
    ApplyGrammar(patience);
    if (std::ranges::all_of(candidates_, [](const llama_token_data& one) { return std::isinf(one.logit); })) {
      throw Error(WASINN_RUNTIME_ERROR, "no token of the model goes on with the grammar");
    }
    token = ChooseAny();
  }
  patience.Check();
  library_.sampler_accept(grammar_.get(), token);
  patience.Check();
  return token;
}

void Sampler::Take(const float* logits) {
  if (logits == nullptr) throw Error(WASINN_RUNTIME_ERROR, "llama.cpp has computed no logits");
  if (keeps_logits_ || (grammar_ != nullptr && !watch_)) logits_.assign(logits, logits + candidates_.size());
  Fill(logits);
}

llama_token Sampler::Choose(const backend::CancelGate& gate) {
  // Samplers sort, and nothing sorts by what is no number.
  if (model_.of_guest() &&
      !std::ranges::all_of(candidates_, [](const llama_token_data& one) { return std::isfinite(one.logit); })) {
    throw Error(WASINN_RUNTIME_ERROR, "the model computes a value that is not a number");
  }
  llama_token token = ChooseAny();
  if (watch_) {
    Watch(token, gate);
  } else if (grammar_ != nullptr) {
    token = ChooseWithGrammar(token, gate);
  }
  library_.sampler_accept(chain_.get(), token);
  return token;
}

}  // namespace wasinn::llama
