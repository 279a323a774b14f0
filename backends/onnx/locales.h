// The locales of StringNormalizer, for workers.
#pragma once

namespace wasinn::onnx {

// Reads the usual locales of texts: glibc then has them without their files, which a sealed worker cannot open. A locale
// that is not installed is left out: only the models that name it fail.
void ReadLocales();

}  // namespace wasinn::onnx
