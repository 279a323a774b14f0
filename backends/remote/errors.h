// What a call that failed says to a guest.
#ifndef WASINN_BACKENDS_REMOTE_ERRORS_H_
#define WASINN_BACKENDS_REMOTE_ERRORS_H_

#include <grpcpp/support/status.h>
#include <wasinn/types.h>

#include <string>

#include "common/error.h"

namespace wasinn::remote {

// UNAVAILABLE is of the server; what a model says about itself is never that.
wasinn_code CodeOf(const grpc::Status& status);
// A server's text, which may be anybody's: cut, in one line, and UTF-8.
std::string Quoted(const std::string& text);
// As an Error; `server`: who said so.
backend::Error ErrorOf(const grpc::Status& status);
[[noreturn]] void ThrowStatus(const grpc::Status& status, const std::string& server);

}  // namespace wasinn::remote

#endif  // WASINN_BACKENDS_REMOTE_ERRORS_H_
