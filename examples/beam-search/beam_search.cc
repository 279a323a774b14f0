// Decodes a language model by itself: the host evaluates tokens, and this program chooses them, by a beam search.
//
//   beam-search.wasm [--model NAME] [--n-predict N] [--beams N] PROMPT
//
// With one beam it always takes the likeliest token, as the host does with "temp": 0. With more it goes on with several
// texts at once, and keeps those that are likeliest as a whole.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "decoder.h"

namespace {

struct Beam {
  std::vector<int32_t> tokens;
  double score = 0;  // its log-probability
  bool has_ended = false;
  std::string state;  // the host's name for what it has evaluated of it; "": none
};

struct Arguments {
  std::string model = "lm", prompt;
  size_t predict = 40, beams = 1;
};

bool Parse(int argc, char** argv, Arguments* arguments) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (!word.starts_with("--")) {
      arguments->prompt += (arguments->prompt.empty() ? "" : " ") + std::string(word);
      continue;
    }
    if (++i == argc) return false;
    const long number = std::strtol(argv[i], nullptr, 10);
    if (word == "--model") {
      arguments->model = argv[i];
    } else if (word == "--n-predict" && number > 0) {
      arguments->predict = static_cast<size_t>(number);
    } else if (word == "--beams" && number > 0 && number <= 16) {
      arguments->beams = static_cast<size_t>(number);
    } else {
      return false;
    }
  }
  return !arguments->prompt.empty();
}

// The ways on from one beam: as many as could all be among the best.
bool Extend(Decoder* decoder, const Beam& beam, size_t beams, const std::string& state, std::vector<Beam>* extended) {
  if (beam.has_ended) {
    extended->push_back(beam);
    return true;
  }
  Decoder::Answer answer;
  if (!decoder->Decode(beam.tokens, {.top = beams, .save = beams > 1 ? state : "", .restore = beam.state}, &answer)) {
    return false;
  }
  for (size_t i = 0; i < answer.tokens.size(); ++i) {
    Beam next = beam;
    next.score += answer.logits[i] - answer.log_sum;
    next.state = beams > 1 ? state : "";
    next.has_ended = std::ranges::find(answer.end_tokens, answer.tokens[i]) != answer.end_tokens.end();
    if (!next.has_ended) next.tokens.push_back(answer.tokens[i]);
    extended->push_back(std::move(next));
  }
  return true;
}

bool Search(Decoder* decoder, const Arguments& arguments, std::vector<Beam>* beams) {
  beams->assign(1, Beam());
  for (size_t n = 0; n < arguments.predict; ++n) {
    std::vector<Beam> extended;
    for (size_t i = 0; i < beams->size(); ++i) {
      // Two sets of names, in turns: all beams of one length may come from the same shorter one.
      const std::string state = (n % 2 == 0 ? "even-" : "odd-") + std::to_string(i);
      if (!Extend(decoder, (*beams)[i], arguments.beams, state, &extended)) return false;
    }
    std::ranges::stable_sort(extended, std::ranges::greater(), &Beam::score);
    if (extended.size() > arguments.beams) extended.resize(arguments.beams);
    *beams = std::move(extended);
    if (std::ranges::all_of(*beams, &Beam::has_ended)) break;
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  if (!Parse(argc, argv, &arguments)) {
    std::fputs("beam-search.wasm [--model NAME] [--n-predict N] [--beams 1..16] PROMPT\n", stderr);
    return 2;
  }
  Decoder decoder;
  std::vector<Beam> beams;
  if (!decoder.Open(arguments.model, arguments.prompt) || !Search(&decoder, arguments, &beams)) return 1;
  for (const Beam& beam : beams) {
    std::string text;
    if (!beam.tokens.empty() && !decoder.TextOf(beam.tokens, &text)) return 1;
    std::printf("%s%s\n", arguments.prompt.c_str(), text.c_str());
    std::fprintf(stderr, "  %zu tokens, log-probability %.3f\n", beam.tokens.size(), beam.score);
  }
  return 0;
}
