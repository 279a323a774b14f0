// What a library writes to stderr while it is opened.
#ifndef WASINN_BACKENDS_TENSORFLOW_STDERR_CAPTURE_H_
#define WASINN_BACKENDS_TENSORFLOW_STDERR_CAPTURE_H_

#include <string>

namespace wasinn::tensorflow {

// Turns file descriptor 2 to memory while it lives. One at a time in the OS process; what other threads write to stderr
// meanwhile is written there in the end. Where it cannot, it does nothing.
class StderrCapture {
 public:
  StderrCapture();
  ~StderrCapture() { Finish(); }
  StderrCapture(const StderrCapture&) = delete;
  StderrCapture& operator=(const StderrCapture&) = delete;

  // TensorFlow's own lines; all others go to stderr now.
  std::string Finish();

 private:
  int memory_ = -1;
  int stderr_ = -1;
};

}  // namespace wasinn::tensorflow

#endif  // WASINN_BACKENDS_TENSORFLOW_STDERR_CAPTURE_H_
