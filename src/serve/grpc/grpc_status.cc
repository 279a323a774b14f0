#include "serve/grpc/grpc_status.h"

#include <new>

namespace wasinn::serve {
namespace {

grpc::StatusCode CodeOf(wasinn_code code) {
  switch (code) {
    case WASINN_ERROR_NOT_FOUND:
    case WASINN_ERROR_MODEL_NOT_FOUND:
      return grpc::NOT_FOUND;
    case WASINN_ERROR_INVALID_ARGUMENT:
    case WASINN_ERROR_INVALID_ENCODING:
    case WASINN_ERROR_PROMPT_TOO_LONG:
      return grpc::INVALID_ARGUMENT;
    case WASINN_ERROR_UNSUPPORTED_OPERATION:
      return grpc::UNIMPLEMENTED;
    case WASINN_ERROR_TOO_LARGE:
    case WASINN_ERROR_BUSY:
      return grpc::RESOURCE_EXHAUSTED;
    case WASINN_ERROR_SECURITY:
      return grpc::PERMISSION_DENIED;
    case WASINN_ERROR_TIMEOUT:
      return grpc::DEADLINE_EXCEEDED;
    case WASINN_ERROR_UNAVAILABLE:
    case WASINN_ERROR_LOST:
      return grpc::UNAVAILABLE;
    default:
      return grpc::INTERNAL;
  }
}

}  // namespace

grpc::Status ToGrpc(const Failure& failure) { return {CodeOf(failure.code), failure.message}; }

Failure ToFailure(const std::exception& thrown) {
  if (dynamic_cast<const std::bad_alloc*>(&thrown) != nullptr) return OutOfMemory();
  return {WASINN_ERROR_RUNTIME, thrown.what()};
}

}  // namespace wasinn::serve
