// Generates several texts at random after one prompt, and prints the likeliest.
//
//   best-of-n.wasm [--model NAME] [--n-predict N] [--n N] [--temp T] [--seed N] PROMPT
//
// The prompt is evaluated once, and the texts continue in one batch.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

#include "arguments.h"
#include "decoder.h"

namespace {

constexpr size_t kTop = 40;  // the rest is too unlikely

struct Candidate {
  Tokens text;
  double sum = 0;  // of log-probabilities
  size_t tokens = 0;
  bool has_ended = false;
  // The mean per token, so that short texts have no advantage.
  double score() const { return sum / static_cast<double>(std::max<size_t>(tokens, 1)); }
};

const Choice& Draw(const Choices& choices, double temperature, std::mt19937* random) {
  if (temperature <= 0) return choices.front();
  std::vector<double> weights;
  for (const Choice& choice : choices) weights.push_back(std::exp(choice.log_probability / temperature));
  return choices[std::discrete_distribution<size_t>(weights.begin(), weights.end())(*random)];
}

// Adds one token to each text that has not ended.
bool Extend(Decoder* decoder, double temperature, std::mt19937* random, std::vector<Candidate>* candidates) {
  std::vector<Tokens> texts;
  std::vector<Candidate*> open;
  for (Candidate& candidate : *candidates) {
    if (candidate.has_ended) continue;
    open.push_back(&candidate);
    texts.push_back(candidate.text);
  }
  std::vector<Choices> next;
  if (!decoder->Next(texts, kTop, &next)) return false;
  for (size_t i = 0; i < open.size(); ++i) {
    const Choice& choice = Draw(next[i], temperature, random);
    open[i]->sum += choice.log_probability;
    ++open[i]->tokens;
    open[i]->has_ended = decoder->Ends(choice.token);
    if (!open[i]->has_ended) open[i]->text.push_back(choice.token);
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  const Arguments arguments(argc, argv,
                            {{"model", "lm"}, {"n-predict", "40"}, {"n", "4"}, {"temp", "0.8"}, {"seed", "1"}});
  if (!arguments.Check("best-of-n.wasm [--model NAME] [--n-predict N] [--n N] [--temp T] [--seed N] PROMPT")) return 2;
  Decoder decoder;
  std::mt19937 random(static_cast<uint32_t>(arguments.Count("seed")));
  Candidate first;
  if (!decoder.Open(arguments.Text("model")) || !decoder.TokensOf(arguments.prompt(), &first.text)) return 1;
  std::vector<Candidate> candidates(std::max<size_t>(arguments.Count("n"), 1), first);
  for (size_t n = arguments.Count("n-predict"); n > 0 && !std::ranges::all_of(candidates, &Candidate::has_ended); --n) {
    if (!Extend(&decoder, arguments.Number("temp"), &random, &candidates)) return 1;
  }
  std::ranges::stable_sort(candidates, std::ranges::greater(), &Candidate::score);
  for (const Candidate& candidate : candidates) {
    std::string text;
    if (!decoder.TextOf({candidate.text.begin() + static_cast<ptrdiff_t>(first.text.size()), candidate.text.end()},
                        &text)) {
      return 1;
    }
    if (&candidate == &candidates.front()) std::printf("%s%s\n", arguments.prompt().c_str(), text.c_str());
    std::fprintf(stderr, "  %.3f a token:%s\n", candidate.score(), text.c_str());
  }
  std::fprintf(stderr, "  %zu tokens evaluated in %zu passes\n", decoder.evaluated(), decoder.passes());
  return 0;
}
