// Keeps a line that a library prints once off the terminal.
#ifndef WASINN_BACKENDS_TFLITE_QUIET_STDERR_H_
#define WASINN_BACKENDS_TFLITE_QUIET_STDERR_H_

#include <functional>
#include <string_view>

namespace wasinn::tflite {

// Does something that prints `line`, newline included, to stderr. What else arrives there meanwhile, from whichever
// thread, is only late. For what happens once in an OS process: file descriptor 2 belongs to all of it.
void WithoutLine(std::string_view line, const std::function<void()>& action);

}  // namespace wasinn::tflite

#endif  // WASINN_BACKENDS_TFLITE_QUIET_STDERR_H_
