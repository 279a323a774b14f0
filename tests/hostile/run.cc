#include "hostile/run.h"

#include <wasmtime.h>

#include "support/this_build.h"

namespace wasinn::testing {
namespace {

bool HasControlCharacters(std::string_view line) {
  for (const char c : line) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) return true;
  }
  return false;
}

// WasmEdge takes no modules in the text format.
std::string FromText(const std::string& text) {
  wasm_byte_vec_t wasm;
  wasmtime_error_t* error = wasmtime_wat2wasm(text.data(), text.size(), &wasm);
  EXPECT_EQ(error, nullptr) << text;
  if (error != nullptr) return wasmtime_error_delete(error), "";
  std::string bytes(wasm.data, wasm.size);
  wasm_byte_vec_delete(&wasm);
  return bytes;
}

void ExpectLines(const CommandResult& result, std::span<const Attack> attacks) {
  const std::vector<std::string> lines = Lines(result.out);
  for (size_t i = 0; i < attacks.size() && i < lines.size(); ++i) {
    const Attack& attack = attacks[i];
    EXPECT_EQ(lines[i], attack.error.empty() ? attack.what : attack.what + ": " + attack.error) << "line " << i + 1;
  }
  EXPECT_EQ(lines.size(), attacks.size()) << result.out;
}

// An honest compute that its guest's short deadline ended, and that the guest has tried again.
bool IsLate(const std::string& line) { return HasInOrder(line, {"compute: timeout: ", "was stopped after "}); }

void ExpectLog(const CommandResult& result, std::span<const Attack> attacks) {
  const std::vector<std::string> log = GuestLog(result);
  size_t next = 0;
  for (const Attack& attack : attacks) {
    if (attack.error.empty() || attack.error == "success") continue;
    while (next < log.size() && !HasInOrder(log[next], attack.log) && IsLate(log[next])) ++next;
    if (next == log.size()) {
      ADD_FAILURE() << "the log has nothing of: " << attack.what;
      return;
    }
    const std::string& line = log[next++];
    EXPECT_TRUE(HasInOrder(line, attack.log))
        << attack.what << " is logged as:\n  " << line << "\nand should have: " << ::testing::PrintToString(attack.log);
  }
  while (next < log.size() && IsLate(log[next])) ++next;
  EXPECT_EQ(next, log.size()) << "the log says more than the guest did";
}

}  // namespace

std::string GuestPath(const std::string& guest) { return GuestFile("hostile-" + guest); }
std::string SourcePath(const std::string& file) { return InSources("") + file; }
std::string DigitsPath() { return SourcePath("models/digits.onnx"); }
std::string TinyPath(const std::string& model) { return SourcePath("tests/models/tiny/" + model + ".onnx"); }

GuestCommand GuestRun::Command(const TestFolder& scratch) const {
  std::vector<std::string> all = {"--model", "digits=" + DigitsPath()};
  for (const std::string& model : models) all.insert(all.end(), {"--model", model + "=" + TinyPath(model)});
  const std::string config = (log_all ? "limits.max_log_messages = 1000000\nlog.max_guest_lines = 0\n" : "") + settings;
  if (!config.empty()) all.insert(all.end(), {"--config", scratch.Write("host.toml", config)});
  all.insert(all.end(), flags.begin(), flags.end());
  std::string path = guest.find('/') == guest.npos ? GuestPath(guest) : guest;
  if (OnWasmEdge() && path.ends_with(".wat")) path = scratch.Write("guest.wasm", FromText(ReadFile(path)));
  return MakeGuestCommand(all, path, args);
}

CommandResult GuestRun::Execute() const {
  const TestFolder scratch;
  const GuestCommand command = Command(scratch);
  return RunCommand(command.argv, command.environment, folder);
}

bool HasInOrder(std::string_view text, const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    const size_t at = text.find(word);
    if (at == text.npos) return false;
    text.remove_prefix(at + word.size());
  }
  return true;
}

std::vector<std::string> GuestLog(const CommandResult& result) {
  std::vector<std::string> log;
  for (std::string& line : Lines(result.err)) {
    if (line.starts_with("wasinn: warning: guest")) log.push_back(std::move(line));
  }
  return log;
}

void ExpectAttacks(const CommandResult& result, std::span<const Attack> attacks) {
  EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
  ExpectLines(result, attacks);
  ExpectLog(result, attacks);
  for (const std::string& line : Lines(result.err)) EXPECT_FALSE(HasControlCharacters(line)) << line;
}

}  // namespace wasinn::testing
