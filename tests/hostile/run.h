// Hostile guests, run as a user runs them: with the built command, and the model "digits" for the honest inference.
#pragma once

#include "support/files.h"
#include "support/guest_command.h"
#include "support/test.h"

namespace wasinn::testing {

// The line that every guest prints as long as host and guest are well.
inline constexpr char kHonest[] = "honest inference: a 2";

// One line of a guest, and what the host's log says when it is an error: some words of it, in order.
struct Attack {
  std::string what;
  std::string error = "success";
  std::vector<std::string> log;
};
// The honest inference, at the place of an attack.
inline Attack Honest() { return {kHonest, "", {}}; }
// A line that is none of the two.
inline Attack Line(const std::string& text) { return {text, "", {}}; }

// Paths of what is built and committed.
std::string GuestPath(const std::string& guest);  // without ".wasm"
std::string DigitsPath();
std::string TinyPath(const std::string& model);  // without ".onnx"
std::string SourcePath(const std::string& file);

// Runs of the command, with "digits" and further models registered.
struct GuestRun {
  std::string guest;                // a guest of this folder, or a path
  std::vector<std::string> args;    // the guest's
  std::vector<std::string> flags;   // the command's
  std::vector<std::string> models;  // of tests/models/tiny, by name
  std::string settings;             // of the host, in TOML
  bool log_all = false;             // no limit on the messages of one guest
  std::string folder;               // to run in

  // `scratch` must live as long as the run.
  GuestCommand Command(const TestFolder& scratch) const;
  CommandResult Execute() const;
};

// Checks that the guest ended well and printed exactly these lines, and that the host's log has one line for each
// error, in the same order, that names the function's errno and has the words. Next to these the log may say of an
// honest inference that it was late: a guest under a short deadline tries again, for a machine can be busy.
void ExpectAttacks(const CommandResult& result, std::span<const Attack> attacks);

// The host's log about its guest.
std::vector<std::string> GuestLog(const CommandResult& result);
// The text has all of the words, in this order.
bool HasInOrder(std::string_view text, const std::vector<std::string>& words);

}  // namespace wasinn::testing
