// Names of models that are no names, that look like paths, or that would like to write lines of their own in the log.
#include "attack.h"

using namespace attack;

namespace {

void Try(const char* what, const std::string& name) {
  uint32_t graph = 0;
  Tell(what, LoadNamed(name, &graph));
}

}  // namespace

int main() {
  const Honest honest;
  Try("empty", "");
  Try("1024 bytes", std::string(1024, 'x'));
  Try("1025 bytes", std::string(1025, 'x'));
  Try("1 MB", std::string(1000000, 'x'));
  Try("16 MB of zeros", std::string(16000000, '\0'));  // NOLINT(bugprone-string-constructor): the attack
  Try("a path up", "../digits");
  Try("an absolute path", "/etc/passwd");
  Try("the model's own file", "/models/digits.onnx");
  Try("a file name", "digits.onnx");
  Try("a windows path", "..\\digits");
  Try("a URL", "file:///etc/passwd");
  Try("another runtime's mark", "preload:/etc/passwd");
  Try("with a zero after it", std::string("digits\0", 7));
  Try("with a zero in it", std::string("digits\0.onnx", 12));
  Try("upper case", "DIGITS");
  Try("a blank after it", "digits ");
  Try("version 1", "digits:1");
  Try("version 0", "digits:0");
  Try("version 2", "digits:2");
  Try("version -1", "digits:-1");
  Try("version +1", "digits:+1");
  Try("version 01", "digits:01");
  Try("version 2^32+1", "digits:4294967297");
  Try("version 1e0", "digits:1e0");
  Try("no version", "digits:");
  Try("two versions", "digits:1:1");
  Try("a colon", ":");
  Try("not UTF-8", "digits\xff\xfe\xc0\xaf");
  Try("an overlong slash",
      "..\xc0\xaf"
      "digits");
  Try("half a character", "digits\xe2\x82");
  Try("format strings", "%s%n%n%n {} {0} ${HOME}");
  Try("a line of its own", "x\nwasinn: error: all is lost");
  Try("a return", "x\rwasinn: error: all is lost");
  Try("an escape sequence", "\x1b[2J\x1b]0;title\x07");
  Try("a C1 control in UTF-8",
      "\xc2\x9b"
      "2J");
  Try("a raw C1 control",
      "\x9b"
      "2J");
  Try("a line separator", "x\xe2\x80\xa8wasinn: error");
  Try("a right-to-left override", "x\xe2\x80\xaesdrowkcab");
  Try("delete", "\x7f\x7f\x7f");
  honest.Infer();
}
