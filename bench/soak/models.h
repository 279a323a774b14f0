// The inferences of guests, and how to check their results.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace wasinn::soak {

// An input, and its expected output.
struct Question {
  std::vector<uint32_t> dims;
  bool is_text = false;  // u8, otherwise f32
  std::vector<uint8_t> input;
  std::string options;  // a second input, of u8; "": there is none
  std::vector<uint8_t> output;
  double tolerance = 0;  // of floats; 0: the bytes must be equal
};

bool IsRight(const Question& question, const std::vector<uint8_t>& given);

// One tiny model of each framework.
class Model {
 public:
  // Computes three means of an image of 3x8x8.
  static Model Mean(const std::string& backend, uint32_t encoding, std::vector<std::string> files);
  // Computes embeddings of texts. They are learned from a first run.
  static Model Text(const std::string& backend, uint32_t encoding, std::vector<std::string> files);

  const std::string& backend() const { return backend_; }
  // Each worker opens the framework again, which takes a second of processor time.
  bool is_slow_to_start() const { return slow_to_start_; }
  // The relative number of its inferences.
  uint64_t share(bool in_worker) const { return in_worker ? share_in_workers_ : share_; }
  // The number in wasi:nn's graph-encoding. For modules the numbers up to 4 are the same; ggml has none, and 5 means
  // autodetect.
  uint32_t encoding() const { return encoding_; }
  const std::vector<std::string>& files() const { return files_; }
  const std::vector<std::vector<uint8_t>>& parts() const { return parts_; }
  // Questions whose outputs have to be learned; empty if all are known.
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

// The models in wasinn's sources in this folder whose backends are `available`.
std::vector<Model> ModelsIn(const std::string& folder, const std::vector<std::string>& available);

}  // namespace wasinn::soak
