#include "common/error.h"

#include <cstdlib>
#include <cstring>
#include <new>

namespace wasinn::backend {

namespace {

void ReleaseHeap(wasinn_error* error) { std::free(error); }

void ReleaseStatic(wasinn_error* /*error*/) {}

// For the one moment in which there is no memory even for an error.
wasinn_error* OutOfMemory() noexcept {
  static wasinn_error error = {sizeof(wasinn_error), WASINN_TOO_LARGE, "out of memory", ReleaseStatic};
  return &error;
}

}  // namespace

wasinn_error* MakeError(wasinn_code code, std::string_view message) noexcept {
  void* memory = std::malloc(sizeof(wasinn_error) + message.size() + 1);
  if (memory == nullptr) return OutOfMemory();
  char* text = static_cast<char*>(memory) + sizeof(wasinn_error);
  std::memcpy(text, message.data(), message.size());
  text[message.size()] = '\0';
  return new (memory) wasinn_error{sizeof(wasinn_error), code, text, ReleaseHeap};
}

wasinn_error* MakeErrorOfCurrentException() noexcept {
  try {
    throw;
  } catch (const Error& error) {
    return MakeError(error.code(), error.what());
  } catch (const std::bad_alloc&) {
    return OutOfMemory();
  } catch (const std::exception& error) {
    return MakeError(WASINN_RUNTIME_ERROR, error.what());
  } catch (...) {
    return MakeError(WASINN_RUNTIME_ERROR, "an exception of an unknown type");
  }
}

}  // namespace wasinn::backend
