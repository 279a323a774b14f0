// Generates the same text as the host with "temp": 0, in fewer passes: where the text repeats itself, it guesses the
// tokens that followed the last time, and the host evaluates all guesses at once.
//
//   prompt-lookup.wasm [--model NAME] [--n-predict N] [--guesses N] PROMPT
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "arguments.h"
#include "decoder.h"

namespace {

constexpr size_t kAlike = 2;  // the number of tokens that must be equal

// The tokens that followed the last earlier place with the text's last tokens.
Tokens Guess(const Tokens& text, size_t most) {
  if (text.size() <= kAlike) return {};
  const auto last = text.end() - kAlike;
  const auto found = std::find_end(text.begin(), text.end() - 1, last, text.end());
  if (found == text.end() - 1) return {};
  const auto from = found + kAlike;
  return {from, from + std::min<ptrdiff_t>(static_cast<ptrdiff_t>(most), text.end() - from)};
}

// Adds tokens to the text: the likeliest one, and one more for each right guess. Returns false if it failed.
bool Extend(Decoder* decoder, size_t guesses, Tokens* text, bool* has_ended) {
  const Tokens guessed = Guess(*text, guesses);
  Tokens whole = *text;
  whole.insert(whole.end(), guessed.begin(), guessed.end());
  std::vector<Choices> next;
  if (!decoder->NextFrom(whole, text->size() - 1, 1, &next)) return false;
  for (size_t i = 0; i < next.size() && !*has_ended; ++i) {
    const int32_t token = next[i].front().token;
    *has_ended = decoder->Ends(token);
    if (!*has_ended) text->push_back(token);
    if (i < guessed.size() && guessed[i] != token) break;
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  const Arguments arguments(argc, argv, {{"model", "lm"}, {"n-predict", "40"}, {"guesses", "7"}});
  if (!arguments.Check("prompt-lookup.wasm [--model NAME] [--n-predict N] [--guesses N] PROMPT")) return 2;
  Decoder decoder;
  Tokens text;
  if (!decoder.Open(arguments.Text("model")) || !decoder.TokensOf(arguments.prompt(), &text)) return 1;
  const size_t prompt = text.size(), most = prompt + arguments.Count("n-predict");
  for (bool has_ended = false; text.size() < most && !has_ended;) {
    // The host chooses one token after the guesses.
    const size_t guesses = std::min(arguments.Count("guesses"), most - text.size() - 1);
    if (!Extend(&decoder, guesses, &text, &has_ended)) return 1;
  }
  std::string written;
  if (!decoder.TextOf({text.begin() + static_cast<ptrdiff_t>(prompt), text.end()}, &written)) return 1;
  std::printf("%s%s\n", arguments.prompt().c_str(), written.c_str());
  std::fprintf(stderr, "  %zu tokens in %zu passes\n", text.size() - prompt, decoder.passes());
  return 0;
}
