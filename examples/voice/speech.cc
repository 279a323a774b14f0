#include "speech.h"

#include <algorithm>

namespace {

constexpr double kBeginAt = 0.5, kEndBelow = 0.35;
// In samples, sixteen of which are a millisecond.
constexpr size_t kMinSilence = 100 * 16, kMinSpeech = 250 * 16, kPad = 30 * 16;

// Widens each stretch; two that are nearer than both pads share the silence between them.
void Pad(std::vector<Speech>* found, size_t samples) {
  for (size_t i = 0; i < found->size(); ++i) {
    Speech& speech = (*found)[i];
    if (i == 0) speech.begin -= std::min(speech.begin, kPad);
    if (i + 1 == found->size()) {
      speech.end = std::min(samples, speech.end + kPad);
      continue;
    }
    Speech& next = (*found)[i + 1];
    const size_t silence = next.begin - speech.end;
    const size_t pad = silence < 2 * kPad ? silence / 2 : kPad;
    speech.end += pad;
    next.begin -= pad;
  }
}

}  // namespace

std::vector<Speech> FindSpeech(const std::vector<float>& probabilities, size_t samples) {
  std::vector<Speech> found;
  bool speaking = false;
  bool fading = false;  // below the threshold, but not yet for long enough
  size_t begin = 0, end = 0;
  for (size_t i = 0; i < probabilities.size(); ++i) {
    const size_t now = i * kChunk;
    if (probabilities[i] >= kBeginAt) {
      fading = false;
      if (!speaking) begin = now;
      speaking = true;
    } else if (speaking && probabilities[i] < kEndBelow) {
      if (!fading) end = now;
      fading = true;
      if (now - end < kMinSilence) continue;
      if (end - begin > kMinSpeech) found.push_back({begin, end});
      speaking = fading = false;
    }
  }
  if (speaking && samples - begin > kMinSpeech) found.push_back({begin, samples});
  Pad(&found, samples);
  return found;
}
