#include "core/table_errors.h"

#include <cstdlib>
#include <cstring>
#include <string_view>

namespace wasinn::core {

wasinn_error* OutOfMemory() noexcept {
  static constinit wasinn_error error = {sizeof(wasinn_error), WASINN_ERROR_TOO_LARGE, "out of memory",
                                         [](wasinn_error*) {}};
  return &error;
}

wasinn_error* ToError(const Status& status) noexcept {
  if (status.ok()) return nullptr;
  const std::string_view text = status.message();
  void* memory = std::malloc(sizeof(wasinn_error) + text.size() + 1);
  if (memory == nullptr) return OutOfMemory();
  char* message = static_cast<char*>(memory) + sizeof(wasinn_error);
  std::memcpy(message, text.data(), text.size());
  message[text.size()] = '\0';
  return new (memory) wasinn_error{sizeof(wasinn_error), static_cast<uint32_t>(status.code()), message,
                                   [](wasinn_error* error) { std::free(error); }};
}

}  // namespace wasinn::core
