#include "llama/other_file.h"

#include <fcntl.h>

#include <cerrno>
#include <cstring>

#include "base/descriptor.h"
#include "common/throw.h"

namespace wasinn::llama {

std::string WhyNotOpened(int error) {
  const bool is_walled = error == EPERM || error == EACCES;
  return std::string(std::strerror(error)) +
         (is_walled ? " (a model with isolate = true runs in a worker, which opens no file but the model's)" : "");
}

void RequireOtherFile(const std::string& key, const std::string& path) {
  base::Descriptor file;
  if (file.Open(open(path.c_str(), O_RDONLY | O_CLOEXEC))) return;
  backend::Throw(WASINN_ERROR_INVALID_ARGUMENT, "{}: {}: {}", key, path, WhyNotOpened(errno));
}

}  // namespace wasinn::llama
