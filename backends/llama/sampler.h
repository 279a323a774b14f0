// Chooses tokens.
#ifndef WASINN_BACKENDS_LLAMA_SAMPLER_H_
#define WASINN_BACKENDS_LLAMA_SAMPLER_H_

#include <vector>

#include "llama/host.h"
#include "llama/settings.h"

namespace wasinn::llama {

class Model;

// llama.cpp's samplers in its usual order: penalties, top-k, typical-p, top-p, min-p, temperature. As its own programs
// do, a token is chosen without the grammar first, and again with it where the grammar does not allow that one.
class Sampler {
 public:
  Sampler(const Model& model, const Settings& settings);

  // Of the logits of one token, and remembers it. Throws WASINN_RUNTIME_ERROR where none can be chosen.
  llama_token Sample(const float* logits);

 private:
  SamplerPtr MakeGrammar(const Settings& settings) const;
  void AddTo(llama_sampler* chain, const Settings& settings) const;
  void Fill(const float* logits);
  llama_token Choose();
  bool Allows(llama_token token);
  class Patience;
  llama_token SampleWithGrammar(const float* logits, llama_token token);

  const Model& model_;
  const LlamaLibrary& library_;
  const SamplerPtr chain_;
  const SamplerPtr grammar_;  // NULL: none
  std::vector<llama_token_data> candidates_;
  llama_token_data_array array_ = {};
};

}  // namespace wasinn::llama

#endif  // WASINN_BACKENDS_LLAMA_SAMPLER_H_
