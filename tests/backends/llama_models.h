// Models that several files of tests load, and llama.cpp itself with them.
#pragma once

#include "backends/llama_guest.h"
#include "backends/llama_native.h"
#include "backends/llama_writer.h"
#include "support/test.h"

namespace wasinn::test {

// As small as it goes, so that most of its bytes are structure.
inline GgufWriter SmallWriter() {
  return TinyLlamaWriter({.embedding = 8, .layers = 1, .heads = 2, .kv_heads = 1, .feed_forward = 8, .context = 64});
}

inline const std::string& TinyModel() {
  static const std::string bytes = TinyLlamaWriter().Write();
  return bytes;
}

inline const NativeLlama& NativeTiny() {
  static const NativeLlama native(TemporaryFile("tiny.gguf", TinyModel()));
  return native;
}

inline const std::string& WideModel() {
  static const std::string bytes = TinyLlamaWriter({.embedding = 128}).Write();
  return bytes;
}

inline const NativeLlama& NativeWide() {
  static const NativeLlama native(TemporaryFile("wide.gguf", WideModel()));
  return native;
}

// A model with a longer context.
inline const std::string& LongModel() {
  static const std::string bytes = TinyLlamaWriter({.context = 1024}).Write();
  return bytes;
}

}  // namespace wasinn::test
