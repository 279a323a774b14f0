// The locales of StringNormalizer, for workers.
#pragma once

#include <clocale>

namespace wasinn::onnx {

// Holds the usual locales of texts: glibc has them without their files, which a sealed worker cannot open, as long as
// they have a user. A locale that is not installed is left out: only the models that name it fail.
class Locales {
 public:
  Locales() = default;
  ~Locales() {
    for (const locale_t locale : locales_) {
      if (locale != nullptr) freelocale(locale);
    }
  }
  Locales(const Locales&) = delete;
  Locales& operator=(const Locales&) = delete;

 private:
  const locale_t locales_[2] = {newlocale(LC_ALL_MASK, "en_US.UTF-8", nullptr),
                                newlocale(LC_ALL_MASK, "C.UTF-8", nullptr)};
};

}  // namespace wasinn::onnx
