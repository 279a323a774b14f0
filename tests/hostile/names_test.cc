// Names of models, and the host's policy about them.
#include <gtest/gtest.h>

#include "hostile/run.h"

namespace wasinn::testing {
namespace {

Attack Unknown(const std::string& what, const std::string& logged) {
  return {what, "not_found", {"load_by_name: not_found: no model is registered as '" + logged + "'"}};
}

Attack TooLong(const std::string& what, const std::string& size) {
  return {what, "too_large", {"a model's name of " + size + " bytes is longer than the limit of 1024"}};
}

TEST(HostileNames, AreNoPathsAndWriteNoLog) {
  const std::vector<Attack> attacks = {
      Unknown("empty", ""),
      {"1024 bytes", "not_found", {"no model is registered as '" + std::string(980, 'x'), "x… (cut)"}},
      TooLong("1025 bytes", "1025"),
      TooLong("1 MB", "1000000"),
      TooLong("16 MB of zeros", "16000000"),
      Unknown("a path up", "../digits"),
      Unknown("an absolute path", "/etc/passwd"),
      Unknown("the model's own file", "/models/digits.onnx"),
      Unknown("a file name", "digits.onnx"),
      Unknown("a windows path", "..\\digits"),
      Unknown("a URL", "file:///etc/passwd"),
      Unknown("another runtime's mark", "preload:/etc/passwd"),
      Unknown("with a zero after it", "digits\\x00"),
      Unknown("with a zero in it", "digits\\x00.onnx"),
      Unknown("upper case", "DIGITS"),
      Unknown("a blank after it", "digits "),
      {"version 1"},
      Unknown("version 0", "digits:0"),
      Unknown("version 2", "digits:2"),
      Unknown("version -1", "digits:-1"),
      Unknown("version +1", "digits:+1"),
      {"version 01"},
      Unknown("version 2^32+1", "digits:4294967297"),
      Unknown("version 1e0", "digits:1e0"),
      Unknown("no version", "digits:"),
      Unknown("two versions", "digits:1:1"),
      Unknown("a colon", ":"),
      Unknown("not UTF-8", "digits\\xff\\xfe\\xc0\\xaf"),
      Unknown("an overlong slash", "..\\xc0\\xafdigits"),
      Unknown("half a character", "digits\\xe2\\x82"),
      Unknown("format strings", "%s%n%n%n {} {0} ${HOME}"),
      Unknown("a line of its own", "x\\x0awasinn: error: all is lost"),
      Unknown("a return", "x\\x0dwasinn: error: all is lost"),
      Unknown("an escape sequence", "\\x1b[2J\\x1b]0;title\\x07"),
      Unknown("a C1 control in UTF-8", "\\xc2\\x9b2J"),
      Unknown("a raw C1 control", "\\x9b2J"),
      Unknown("a line separator", "x\\xe2\\x80\\xa8wasinn: error"),
      Unknown("a right-to-left override", "x\\xe2\\x80\\xaesdrowkcab"),
      Unknown("delete", "\\x7f\\x7f\\x7f"),
      Honest()};
  ExpectAttacks(GuestRun{.guest = "names", .log_all = true}.Execute(), attacks);
}

TEST(HostileNames, ADeniedLoadIsDenied) {
  const std::vector<Attack> attacks = {
      {"digits.onnx", "unsupported_operation", {"load: security: ", "policy", "policy.load"}}, Honest()};
  const GuestRun run{.guest = "load_files",
                     .args = {"/models/digits.onnx"},
                     .flags = {"--nn-load", "deny", "--dir", SourcePath("models") + "::/models"}};
  ExpectAttacks(run.Execute(), attacks);
}

}  // namespace
}  // namespace wasinn::testing
