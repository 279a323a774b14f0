#include "onnx/locales.h"

#include <clocale>
#include <mutex>

namespace wasinn::onnx {

// They are never freed: glibc forgets a locale with its last user.
void ReadLocales() {
  static std::once_flag once;
  std::call_once(once, [] {
    for (const char* name : {"en_US.UTF-8", "C.UTF-8"}) (void)::newlocale(LC_ALL_MASK, name, nullptr);
  });
}

}  // namespace wasinn::onnx
