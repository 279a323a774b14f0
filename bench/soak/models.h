// What guests infer, and how to tell whether a result is right.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace wasinn::soak {

// An input, and what comes out of it.
struct Question {
  std::vector<uint32_t> dims;
  bool is_text = false;  // u8, else f32
  std::vector<uint8_t> input;
  std::string options;  // a second input, of u8; "": there is none
  std::vector<uint8_t> output;
  double tolerance = 0;  // of floats; 0: the same bytes
};

bool IsRight(const Question& question, const std::vector<uint8_t>& given);

// One tiny model of each framework.
class Model {
 public:
  // Three means of an image of 3x8x8.
  static Model Mean(const std::string& backend, uint32_t encoding, std::vector<std::string> files);
  // Embeddings of texts, which are learned.
  static Model Text(const std::string& backend, uint32_t encoding, std::vector<std::string> files);

  const std::string& backend() const { return backend_; }
  // Each worker opens it anew, which takes a second of a processor.
  bool is_slow_to_start() const { return slow_to_start_; }
  // How many inferences it gets beside others.
  uint64_t share(bool in_worker) const { return in_worker ? share_in_workers_ : share_; }
  // Of wasi:nn's graph-encoding. A module's has the same numbers up to 4; there ggml has none, and 5 recognises it.
  uint32_t encoding() const { return encoding_; }
  const std::vector<std::string>& files() const { return files_; }
  const std::vector<std::vector<uint8_t>>& parts() const { return parts_; }
  // Questions whose outputs are to be learned: none, if they are known.
  std::vector<Question>& to_learn() { return texts_; }
  Question Ask(std::mt19937_64& random) const;

 private:
  Model(std::string backend, uint32_t encoding, std::vector<std::string> files);

  std::string backend_;
  uint32_t encoding_;
  uint64_t share_ = 20, share_in_workers_ = 20;
  bool slow_to_start_ = false;
  std::vector<std::string> files_;
  std::vector<std::vector<uint8_t>> parts_;
  std::vector<Question> texts_;
};

// Those of wasinn's sources in this folder whose backends are among `available`.
std::vector<Model> ModelsIn(const std::string& folder, const std::vector<std::string>& available);

}  // namespace wasinn::soak
