#include "cli/ending.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <iostream>
#include <new>

#include "cli/log.h"
#include "engines/engine.h"

namespace wasinn::cli {
namespace {

// Printed text may still be in a buffer, and be lost when that is written.
int Flushed(int code) {
  errno = 0;
  const bool written = std::fflush(stdout) == 0 && std::ferror(stdout) == 0 && std::cout.flush().good();
  if (written) return code;
  const std::string why = errno == 0 ? "" : std::string(": ") + std::strerror(errno);
  const int failed = Fail("cannot write to standard output" + why);
  return code == 0 ? failed : code;
}

// If a standard file is closed, a pipe or a socket of this program could get its number, and receive its output. A
// descriptor on /dev/null gives users of the file an error, as if it were not open.
void HoldStandardFiles() {
  for (const int file : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(file, F_GETFD) >= 0) continue;
    [[maybe_unused]] const int held =
        open("/dev/null", file == STDIN_FILENO ? O_WRONLY : O_RDONLY);  // the lowest number
  }
}

}  // namespace

int UsageError(const std::string& program, const std::string& message) {
  Log(WASINN_LOG_ERROR, message.c_str());
  std::fprintf(stderr, "Try '%s --help'.\n", program.c_str());
  return kUsage;
}

int RunToItsEnd(int (*run)(int argc, char** argv), int argc, char** argv) {
  HoldStandardFiles();
  std::signal(SIGCHLD, SIG_DFL);  // so that this program can wait for its children, even if its parent ignores its own
  try {
    if (const auto code = engines::RunCompiler(argc, argv)) return *code;
    return Flushed(run(argc, argv));
  } catch (const std::bad_alloc&) {
    std::fputs("wasinn: error: out of memory\n", stderr);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "wasinn: error: %s\n", error.what());
  }
  return kFailure;
}

int EndAtOnce(int code) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return code;
#else
  code = Flushed(code);
  std::fflush(stderr);
  _exit(code);
#endif
}

}  // namespace wasinn::cli
