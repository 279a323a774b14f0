// Models that others made and use, as their packages have them, and what each is given to compute.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "wasinn_run.h"

namespace wasinn::testing {

// The source of an input's bytes.
enum class Material {
  kZeros,
  kSound,         // speech, from -1 to 1
  kLoudSound,     // the same as numbers of 16 bits
  kNoise,         // from 0 to 1
  kPicture,       // a photographed page, from 0 to 1: planes [N, C, H, W]
  kPicturePixel,  // the same as pixels [N, H, W, C]
  kText,          // a file's bytes, as numbers
  kRate           // 16000
};

struct Input {
  const char* type;  // "f32", "i32", "i64"
  std::vector<int64_t> dims;
  Material material;
  const char* native = "";  // what TensorFlow calls it
};

struct RealModel {
  const char* name;
  const char* framework;
  const char* file;  // below share/
  int encoding;      // wasi-nn's number; -1 where guests cannot bring it as bytes
  std::vector<Input> inputs;
  size_t outputs = 1;
  const char* native_outputs = "";  // what TensorFlow calls them: a list like "a:0;a:1"
};

// In the name of a test, which is else its bytes.
inline void PrintTo(const RealModel& model, std::ostream* out) { *out << model.name; }

// Those whose frameworks this build has.
std::vector<RealModel> BuiltRealModels();

std::filesystem::path PathOf(const RealModel& model);

// Whether it takes a WAV file to make it.
inline bool IsSound(const Input& input) {
  return input.material == Material::kSound || input.material == Material::kLoudSound;
}

// The bytes of an input. `sound` is a WAV file.
Bytes Make(const Input& input, const std::filesystem::path& sound);

}  // namespace wasinn::testing
