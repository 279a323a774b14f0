// Finds the text that is likeliest as a whole, by a beam search.
//
//   beam-search.wasm [--model NAME] [--n-predict N] [--beams N] PROMPT
//
// With one beam it always takes the likeliest token, like the host with "temp": 0. With more it continues several texts
// at once, in one batch, and keeps those that are likeliest.
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "arguments.h"
#include "decoder.h"

namespace {

struct Beam {
  Tokens text;
  double score = 0;  // its log-probability
  bool has_ended = false;
};

// The best continuations of all beams.
bool Extend(Decoder* decoder, std::vector<Beam>* beams, size_t most) {
  std::vector<Beam> extended, open;
  std::vector<Tokens> texts;
  for (const Beam& beam : *beams) {
    (beam.has_ended ? extended : open).push_back(beam);
    if (!beam.has_ended) texts.push_back(beam.text);
  }
  // The first time all texts begin with the prompt, so that the host makes room for them at once.
  if (beams->size() == 1) texts.resize(most, texts.front());
  std::vector<Choices> next;
  if (!decoder->Next(texts, most, &next)) return false;
  for (size_t i = 0; i < open.size(); ++i) {
    for (const Choice& choice : next[i]) {
      Beam beam = open[i];
      beam.score += choice.log_probability;
      beam.has_ended = decoder->Ends(choice.token);
      if (!beam.has_ended) beam.text.push_back(choice.token);
      extended.push_back(std::move(beam));
    }
  }
  std::ranges::stable_sort(extended, std::ranges::greater(), &Beam::score);
  if (extended.size() > most) extended.resize(most);
  *beams = std::move(extended);
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  const Arguments arguments(argc, argv, {{"model", "lm"}, {"n-predict", "40"}, {"beams", "1"}});
  const size_t most = arguments.Count("beams");
  if (!arguments.Check("beam-search.wasm [--model NAME] [--n-predict N] [--beams N] PROMPT")) return 2;
  Decoder decoder;
  std::vector<Beam> beams(1);
  if (!decoder.Open(arguments.Text("model")) || !decoder.TokensOf(arguments.prompt(), &beams[0].text)) return 1;
  const auto prompt = static_cast<ptrdiff_t>(beams[0].text.size());
  for (size_t n = arguments.Count("n-predict"); n > 0 && !std::ranges::all_of(beams, &Beam::has_ended); --n) {
    if (!Extend(&decoder, &beams, most)) return 1;
  }
  for (const Beam& beam : beams) {
    std::string text;
    if (!decoder.TextOf({beam.text.begin() + prompt, beam.text.end()}, &text)) return 1;
    std::printf("%s%s\n", arguments.prompt().c_str(), text.c_str());
    std::fprintf(stderr, "  %zu tokens, log-probability %.2f\n", beam.text.size() - static_cast<size_t>(prompt),
                 beam.score);
  }
  std::fprintf(stderr, "  %zu tokens evaluated in %zu passes\n", decoder.evaluated(), decoder.passes());
  return 0;
}
